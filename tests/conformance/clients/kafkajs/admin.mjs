import kafkajs from 'kafkajs'
import {
    FIRST_TIMESTAMP,
    expectMessages,
    numbered,
    offsets,
    range,
    read,
    record,
    withAdmin,
    write,
} from './cluster.mjs'
import { eventually, expect, refused } from './script.mjs'

const { ConfigResourceTypes, ConfigSource } = kafkajs

export function admin(script) {
    return withAdmin(script, async (client) => {
        const topic = script.name('admin')
        await creating(script, client, topic)
        await describing(script, client, topic)
        await configs(script, client, topic)
        await records(script, client, topic)
        await script.check('delete-topic', async () => {
            await client.deleteTopics({ topics: [topic] })
            await eventually(
                'the topic is gone',
                async () => !(await client.listTopics()).includes(topic),
            )
            // KafkaJS tries that again some times, with growing pauses, unless it is told not to.
            const once = script.kafka.admin({ retry: { retries: 0 } })
            await once.connect()
            await refused('UNKNOWN_TOPIC_OR_PARTITION', () =>
                once.deleteTopics({ topics: [topic] }),
            )
            await once.disconnect()
        })
    })
}

async function partitionsOf(client, topic) {
    const { topics } = await client.fetchTopicMetadata({ topics: [topic] })
    return [...topics[0].partitions].sort((one, other) => one.partitionId - other.partitionId)
}

async function theBroker(client) {
    return (await client.describeCluster()).brokers[0].nodeId
}

async function creating(script, client, topic) {
    await script.check('create-topic', async () => {
        const configEntries = [
            { name: 'retention.ms', value: '-1' },
            { name: 'max.message.bytes', value: '20000' },
        ]
        const topics = [{ topic, numPartitions: 3, replicationFactor: 1, configEntries }]
        expect(await client.createTopics({ waitForLeaders: true, topics }), true, 'created')
    })
    await script.check('create-topic-again', async () => {
        // KafkaJS tells of TOPIC_ALREADY_EXISTS, and of nothing else, by false.
        expect(await client.createTopics({ topics: [{ topic }] }), false, 'created')
    })
    await script.check('create-topic-bad-name', async () => {
        const topics = [{ topic: script.name('not a name!') }]
        await refused('INVALID_TOPIC_EXCEPTION', () => client.createTopics({ topics }))
    })
    await script.check('create-topic-validate-only', async () => {
        const name = script.name('admin-validated')
        await client.createTopics({
            validateOnly: true,
            waitForLeaders: false,
            topics: [{ topic: name }],
        })
        expect((await client.listTopics()).includes(name), false, 'the validated topic is there')
    })
    await script.check('create-topic-assignment', async () => {
        const name = script.name('admin-assigned')
        const replicas = [await theBroker(client)]
        const replicaAssignment = range(0, 2).map((partition) => ({ partition, replicas }))
        const topics = [
            { topic: name, numPartitions: -1, replicationFactor: -1, replicaAssignment },
        ]
        await client.createTopics({ waitForLeaders: false, topics })
        await eventually('the topic is known', async () =>
            (await client.listTopics()).includes(name),
        )
        expect((await partitionsOf(client, name)).length, 2, 'partitions')
    })
}

async function describing(script, client, topic) {
    await script.check('list-topics', async () => {
        const names = await client.listTopics()
        for (const name of [topic, script.name('admin-assigned')])
            expect(names.includes(name), true, name)
    })
    await script.check('describe-topic', async () => {
        const broker = await theBroker(client)
        const actual = (await partitionsOf(client, topic)).map(
            ({ partitionId, leader, replicas, isr }) => ({
                partitionId,
                leader,
                replicas,
                isr,
            }),
        )
        const wanted = range(0, 3).map((i) => ({
            partitionId: i,
            leader: broker,
            replicas: [broker],
            isr: [broker],
        }))
        expect(actual, wanted, 'the partitions')
    })
    await script.check('describe-unknown-topic', async () => {
        const name = script.name('admin-unknown')
        await refused('UNKNOWN_TOPIC_OR_PARTITION', () =>
            client.fetchTopicMetadata({ topics: [name] }),
        )
        expect((await client.listTopics()).includes(name), false, 'the unknown topic is there')
    })
    await script.check('create-partitions', async () => {
        await client.createPartitions({ topicPartitions: [{ topic, count: 5 }] })
        await eventually(
            '5 partitions',
            async () => (await partitionsOf(client, topic)).length === 5,
        )
        const fewer = { topicPartitions: [{ topic, count: 2 }] }
        await refused('INVALID_PARTITIONS', () => client.createPartitions(fewer))
    })
    await script.check('describe-cluster', async () => {
        const { brokers, controller, clusterId } = await client.describeCluster()
        const addresses = brokers.map(({ host, port }) => `${host}:${port}`)
        expect(addresses, [script.bootstrap], 'the brokers')
        expect(controller, brokers[0].nodeId, 'the controller')
        expect(Boolean(clusterId), true, 'there is a cluster id')
    })
}

/** The topic's settings by name. */
export async function settings(client, topic) {
    const { resources } = await client.describeConfigs({
        resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
    })
    return Object.fromEntries(resources[0].configEntries.map((entry) => [entry.configName, entry]))
}

async function configs(script, client, topic) {
    // AlterConfigs, the older call: what is not named goes back to its default.
    const alter = (changes) => {
        const configEntries = Object.entries(changes).map(([name, value]) => ({ name, value }))
        return client.alterConfigs({
            resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
        })
    }
    await script.check('describe-configs', async () => {
        const found = await settings(client, topic)
        expect(found['retention.ms'].configValue, '-1', 'retention.ms')
        expect(found['max.message.bytes'].configValue, '20000', 'max.message.bytes')
        expect(found['max.message.bytes'].configSource, ConfigSource.TOPIC_CONFIG, 'its source')
        expect(found['cleanup.policy'].configValue, 'delete', 'cleanup.policy')
        expect(found['cleanup.policy'].configSource, ConfigSource.DEFAULT_CONFIG, 'its source')
    })
    await script.check('alter-configs', async () => {
        const values = async () => {
            const found = await settings(client, topic)
            return ['retention.ms', 'segment.ms', 'max.message.bytes']
                .map((name) => found[name].configValue)
                .join()
        }
        await alter({ 'retention.ms': '-1', 'segment.ms': '3600000' })
        await eventually(
            'the settings are altered',
            async () => (await values()) === '-1,3600000,1048588',
        )
        await refused('INVALID_CONFIG', () => alter({ 'retention.ms': 'soon' }))
        expect(await values(), '-1,3600000,1048588', 'the settings are as before')
    })
}

async function records(script, client, topic) {
    await script.check('list-offsets', async () => {
        await write(
            script,
            topic,
            range(0, 10).map((i) => ({ ...record(i), partition: 0 })),
        )
        expect((await offsets(script, topic))[0], { low: 0, high: 10 }, 'earliest and latest')
        const found = await client.fetchTopicOffsetsByTimestamp(topic, FIRST_TIMESTAMP + 2500)
        expect(found.find(({ partition }) => partition === 0).offset, '3', 'by timestamp')
    })
    await script.check('delete-records', async () => {
        await client.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '4' }] })
        expect((await offsets(script, topic))[0], { low: 4, high: 10 }, 'earliest and latest')
        if (script.withoutGroups) return
        const { 0: found } = await read(script, topic, { 0: 'beginning' })
        expectMessages(found, numbered(4, 10), 4)
    })
    script.unsupported('describe-log-dirs', "KafkaJS's admin client has no such call")
}

/** What only administrators ask. */
export function cluster(script) {
    for (const check of [
        'describe-features',
        'describe-quorum',
        'elect-leaders',
        'describe-producers',
        'list-config-resources',
        'alter-replica-log-dirs',
    ]) {
        script.unsupported(check, 'the client has no such call')
    }
}
