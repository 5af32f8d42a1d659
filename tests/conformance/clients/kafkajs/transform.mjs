// A worker that reads in a group, and writes what it read in transactions with its offsets. How it
// is called, what it is told and what it says stands in transforming.py.
//
// KafkaJS sends offsets without the group's generation (TxnOffsetCommit v1): the broker cannot tell
// a member from one that was thrown out. So each partition has a transactional id of its own, and
// who gets the partition fences whoever had it, before it looks where to go on.

import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { Kafka, PartitionAssigners, logLevel } from 'kafkajs'

const SESSION_MS = 4_000
const HEARTBEAT_MS = 500
const RECORDS_PER_TRANSACTION = 5

const {
    values: options,
    positionals: [bootstrap],
} = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(
        [
            ...['rebalance', 'group', 'source', 'sink'],
            ...['transactional-id', 'transaction-timeout-ms'],
        ].map((name) => [name, { type: 'string' }]),
    ),
})
const { group, source, sink } = options
const kafka = new Kafka({
    brokers: bootstrap.split(','),
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => console.error(`${entry.namespace}: ${entry.log.message}`),
})
const consumer = kafka.consumer({
    groupId: group,
    partitionAssigners: [PartitionAssigners.roundRobin],
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: 50,
    readUncommitted: false,
})
const admin = kafka.admin()
const say = (line) => console.log(line.replaceAll('\n', ' '))

/** By partition; of this generation only. */
let producers = new Map()

consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    for (const { producer } of producers.values()) producer.disconnect()
    producers = new Map()
    say(`assigned ${[...(payload.memberAssignment[source] ?? [])].sort().join()}`)
})

async function startProducer(partition) {
    const producer = kafka.producer({
        transactionalId: `${options['transactional-id']}-${partition}`,
        transactionTimeout: Number(options['transaction-timeout-ms']),
        idempotent: true,
        maxInFlightRequests: 1,
        // On CONCURRENT_TRANSACTIONS, while the last one is being ended: else 300 ms.
        retry: { initialRetryTime: 20, retries: Number.MAX_SAFE_INTEGER },
    })
    await producer.connect()
    // Only the first transaction asks for a producer id, and so fences who had the partition.
    return { producer, first: await producer.transaction() }
}

async function committedOffset(partition) {
    const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [source] })
    const offset = partitions.find((one) => one.partition === partition)?.offset ?? '-1'
    return offset === '-1' ? '0' : offset
}

/** Goes back to what is committed. */
async function rewind(partition) {
    consumer.seek({ topic: source, partition, offset: await committedOffset(partition) })
}

async function eachBatch({ batch, heartbeat, isRunning, isStale, resolveOffset }) {
    const { partition } = batch
    const ours = producers
    if (!ours.has(partition)) {
        const started = await startProducer(partition)
        // What the consumer has read of the group's offsets may be older than this producer.
        await rewind(partition)
        if (ours !== producers) return started.producer.disconnect()
        ours.set(partition, started)
        return
    }
    for (let at = 0; at < batch.messages.length; at += RECORDS_PER_TRANSACTION) {
        if (!isRunning() || isStale() || ours !== producers) return
        const messages = batch.messages.slice(at, at + RECORDS_PER_TRANSACTION)
        if (!(await transform(ours, partition, messages))) return rewind(partition)
        resolveOffset(messages.at(-1).offset)
        await heartbeat()
    }
}

/** Whether it is committed. */
async function transform(ours, partition, messages) {
    const { producer, first } = ours.get(partition)
    const transaction = first ?? (await producer.transaction())
    ours.get(partition).first = undefined
    try {
        const copies = messages.map(({ value }) => ({ key: null, value, partition }))
        await transaction.send({ topic: sink, messages: copies })
        await hold('written')
        const offset = `${BigInt(messages.at(-1).offset) + 1n}`
        await transaction.sendOffsets({
            consumerGroupId: group,
            topics: [{ topic: source, partitions: [{ partition, offset }] }],
        })
        await hold('offsets')
        await transaction.commit()
    } catch (error) {
        say(`aborted ${error.name}: ${error.message}`)
        // Another may have the partition: a rebalance is under way. If not, a new one takes its
        // place, and ends what this one has left open.
        ours.delete(partition)
        await producer.disconnect()
        return false
    }
    say(`committed ${messages.length}`)
    return true
}

let holdAt = ''
let release = () => {}

async function hold(stage) {
    if (holdAt !== stage) return
    holdAt = ''
    const released = new Promise((resolve) => (release = resolve))
    say(`holding ${stage}`)
    await released
}

await admin.connect()
await consumer.connect()
await consumer.subscribe({ topic: source, fromBeginning: true })
await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
for await (const line of createInterface({ input: process.stdin })) {
    if (line.startsWith('hold ')) {
        holdAt = line.slice('hold '.length)
        say(`will ${line}`)
    } else if (line === 'go') release()
    else if (line === 'leave') break
}
release()
await consumer.disconnect()
await Promise.all([...producers.values()].map(({ producer }) => producer.disconnect()))
await admin.disconnect()
process.exit(0)
