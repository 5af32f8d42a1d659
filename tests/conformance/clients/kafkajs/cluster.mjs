import { createRequire } from 'node:module'
import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import lz4 from 'lz4-napi'
import { eventually, expect, inTime } from './script.mjs'

const require = createRequire(import.meta.url)
const { ZstdCodec } = require('zstd-codec')

export const { CompressionTypes } = kafkajs

// KafkaJS brings gzip; the others are what its users plug in.
const zstd = await new Promise((resolve) => ZstdCodec.run((codec) => resolve(new codec.Simple())))
kafkajs.CompressionCodecs[CompressionTypes.Snappy] = snappy
kafkajs.CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: (encoder) => lz4.compressFrame(encoder.buffer),
    decompress: (buffer) => lz4.decompressFrame(buffer),
})
kafkajs.CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async (encoder) => Buffer.from(zstd.compress(encoder.buffer)),
    decompress: async (buffer) => Buffer.from(zstd.decompress(buffer)),
})

export const RECORDS = 300
export const PARTITIONS = 3
export const FIRST_TIMESTAMP = 1_600_000_000_000

/** Record number i of those that every script writes and expects. */
export function record(i) {
    const tail = Buffer.from(Array.from({ length: i % 200 }, (_, j) => (31 * i + 7 * j) % 256))
    const headers = [
        {},
        { seq: [Buffer.from(`${i}`), Buffer.from('again')] },
        { binary: Buffer.from([0, 255, 10, 195, 40]), empty: Buffer.alloc(0) },
    ]
    return {
        key: i % 6 === 4 ? null : Buffer.from(`key-${i}`),
        value: i % 6 === 5 ? null : Buffer.concat([Buffer.from(`value-${i}-`), tail]),
        headers: headers[i % 3],
        timestamp: `${FIRST_TIMESTAMP + 1000 * i}`,
    }
}

export function range(first, end) {
    return Array.from({ length: end - first }, (_, i) => first + i)
}

/** The records of these numbers, each for its partition. */
export function numbered(first, end) {
    return range(first, end).map((i) => ({ ...record(i), partition: i % PARTITIONS }))
}

/** A record with a value only, and with the timestamp of all that have no other. */
export function text(value, partition = 0) {
    return {
        key: null,
        value: Buffer.from(value),
        headers: {},
        timestamp: `${FIRST_TIMESTAMP}`,
        partition,
    }
}

/** A connected admin client for the time of the call. */
export async function withAdmin(script, call) {
    const admin = script.kafka.admin()
    await admin.connect()
    try {
        return await call(admin)
    } finally {
        await admin.disconnect()
    }
}

/** A connected producer for the time of the call. */
export async function withProducer(script, config, call) {
    const producer = script.kafka.producer(config)
    await producer.connect()
    try {
        return await call(producer)
    } finally {
        await producer.disconnect()
    }
}

/** Creates it and waits until all of it can be used; it keeps its records however old they are. */
export async function createTopic(script, topic, numPartitions, settings = {}) {
    const configEntries = Object.entries({ 'retention.ms': '-1', ...settings }).map(
        ([name, value]) => ({ name, value }),
    )
    await withAdmin(script, (admin) =>
        admin.createTopics({
            waitForLeaders: true,
            topics: [{ topic, numPartitions, replicationFactor: 1, configEntries }],
        }),
    )
    // waitForLeaders waits for the metadata; a broker may need a moment more: see FINDINGS.md.
    await eventually(`all partitions of ${topic} are there`, () =>
        offsets(script, topic).then(
            () => true,
            (error) => {
                if (error.type === 'NOT_LEADER_FOR_PARTITION') return false
                throw error
            },
        ),
    )
}

/** Writes the messages; the first offset that the broker gave out in each partition. */
export async function write(script, topic, messages, { config = {}, ...options } = {}) {
    const answers = await withProducer(script, config, (producer) =>
        inTime(producer.send({ topic, messages, ...options }), 'the acknowledgement'),
    )
    return Object.fromEntries(
        answers.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]),
    )
}

/** The first and the next offset of each partition. */
export async function offsets(script, topic) {
    const partitions = await withAdmin(script, (admin) => admin.fetchTopicOffsets(topic))
    return Object.fromEntries(
        partitions.map(({ partition, low, high }) => [
            partition,
            { low: Number(low), high: Number(high) },
        ]),
    )
}

let readers = 0

/**
 * The messages of these partitions by partition, from the given offsets ('beginning' is one) to
 * their ends: as the only member of a group of its own, which is how KafkaJS reads.
 */
export async function read(script, topic, starts) {
    const ends = await offsets(script, topic)
    const found = Object.fromEntries(Object.keys(starts).map((partition) => [partition, []]))
    const open = new Set(
        Object.keys(starts).filter((partition) => ends[partition].high > ends[partition].low),
    )
    await reading(script, { fromBeginning: true, starts }, topic, async (next) => {
        while (open.size > 0) {
            const { partition, message } = await inTime(next(), `the ends of ${[...open]}`)
            found[partition]?.push(message)
            if (Number(message.offset) + 1 >= ends[partition].high) open.delete(`${partition}`)
        }
    })
    return found
}

/** Calls back with a function that gives one message after the other. */
export async function reading(script, { fromBeginning, starts = {}, ...config }, topic, call) {
    readers += 1
    const groupId = script.name(`reader-${process.pid}-${readers}`)
    const consumer = script.kafka.consumer({ groupId, maxWaitTimeInMs: 20, ...config })
    const arrived = []
    let wake = () => {}
    const next = async () => {
        while (arrived.length === 0) await new Promise((resolve) => (wake = resolve))
        return arrived.shift()
    }
    await consumer.connect()
    try {
        await consumer.subscribe({ topic, fromBeginning })
        await consumer.run({
            autoCommit: false,
            eachMessage: async (payload) => {
                arrived.push(payload)
                wake()
            },
        })
        for (const [partition, offset] of Object.entries(starts)) {
            if (offset !== 'beginning')
                consumer.seek({ topic, partition: Number(partition), offset: `${offset}` })
        }
        await call(next, consumer, arrived)
    } finally {
        await consumer.disconnect()
    }
}

/** Exactly these messages (of one partition), with offsets that begin with the given one. */
export function expectMessages(actual, wanted, firstOffset = 0) {
    for (const [i, message] of actual.slice(0, wanted.length).entries()) {
        const { offset, key, value, headers, timestamp } = message
        const { partition, ...sent } = wanted[i]
        expect(
            { offset, key, value, headers, timestamp },
            { offset: `${firstOffset + i}`, ...sent },
            `message ${i}`,
        )
    }
    expect(actual.length, wanted.length, 'the number of messages')
}

/** Exactly the records of these numbers, all from offset 0. */
export function expectNumbered(found, first, end) {
    for (const partition of range(0, PARTITIONS)) {
        const wanted = numbered(first, end).filter((one) => one.partition === partition)
        expectMessages(found[partition], wanted)
    }
}

export const fromBeginning = Object.fromEntries(
    range(0, PARTITIONS).map((partition) => [partition, 'beginning']),
)
