import {
    PARTITIONS,
    RECORDS,
    createTopic,
    expectMessages,
    expectNumbered,
    fromBeginning,
    numbered,
    range,
    read,
    reading,
    record,
    text,
    withAdmin,
    write,
} from './cluster.mjs'
import { expect, inTime } from './script.mjs'

const MANY = 10_000

export async function consume(script) {
    const topic = script.name('consume')
    if (script.withoutGroups) {
        for (const check of [
            'beginning',
            'end',
            'offset',
            'timestamp',
            'timestamp-past-end',
            'out-of-range',
            'many',
        ]) {
            script.unsupported(check, 'KafkaJS reads only as a member of a group')
        }
        return
    }
    await createTopic(script, topic, PARTITIONS)
    await write(script, topic, numbered(0, RECORDS))
    const wanted = (partition) => numbered(0, RECORDS).filter((one) => one.partition === partition)
    const offsetAt = (timestamp, partition) =>
        withAdmin(script, async (admin) => {
            const found = await admin.fetchTopicOffsetsByTimestamp(topic, Number(timestamp))
            return Number(found.find((one) => one.partition === partition).offset)
        })

    await script.check('beginning', async () =>
        expectNumbered(await read(script, topic, fromBeginning), 0, RECORDS),
    )
    await script.check('offset', async () => {
        const { 1: found } = await read(script, topic, { 1: 42 })
        expectMessages(found, wanted(1).slice(42), 42)
    })
    await script.check('timestamp', async () => {
        // One millisecond behind record 149, which is at offset 49 of partition 2.
        const offset = await offsetAt(Number(record(149).timestamp) + 1, 2)
        expect(offset, 50, 'the offset')
        const { 2: found } = await read(script, topic, { 2: offset })
        expectMessages(found, wanted(2).slice(50), 50)
    })
    await script.check('timestamp-past-end', async () => {
        // KafkaJS gives the end of the partition for "none".
        expect(await offsetAt(record(RECORDS).timestamp, 2), 100, 'the offset')
    })
    await script.check('out-of-range', async () => {
        const { 0: found } = await read(script, topic, { 0: 1_000_000 })
        expectMessages(found, wanted(0))
    })
    await script.check('end', () => readFromEnd(script, topic))
    await script.check('many', () => many(script))
}

async function readFromEnd(script, topic) {
    await reading(script, { fromBeginning: false }, topic, async (next, consumer) => {
        // With its first fetch the consumer has found the end.
        await inTime(
            new Promise((resolve) => consumer.on(consumer.events.FETCH, resolve)),
            'a fetch at the end',
        )
        await write(script, topic, [{ ...record(0), partition: 0 }])
        const { message } = await inTime(next(), 'the message after the end')
        expectMessages([message], [{ ...record(0), partition: 0 }], 100)
    })
}

async function many(script) {
    const topic = script.name('many')
    await createTopic(script, topic, PARTITIONS)
    const messages = range(0, MANY).map((i) => text(`${i}`.padStart(500, '0'), i % PARTITIONS))
    for (let i = 0; i < MANY; i += 1000) await write(script, topic, messages.slice(i, i + 1000))
    const found = await read(script, topic, fromBeginning)
    for (const partition of range(0, PARTITIONS)) {
        const numbers = found[partition].map(({ offset, value }) => [
            Number(offset),
            Number(value.toString()),
        ])
        const all = range(0, MANY).filter((i) => i % PARTITIONS === partition)
        expect(
            numbers,
            all.map((i) => [(i - partition) / PARTITIONS, i]),
            `offsets and numbers in partition ${partition}`,
        )
    }
}
