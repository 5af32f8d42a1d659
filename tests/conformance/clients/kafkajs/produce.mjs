import {
    CompressionTypes,
    FIRST_TIMESTAMP,
    createTopic,
    expectMessages,
    offsets,
    range,
    read,
    record,
    text,
    write,
} from './cluster.mjs'
import { eventually, expect, refused } from './script.mjs'

const CODECS = {
    none: CompressionTypes.None,
    gzip: CompressionTypes.GZIP,
    snappy: CompressionTypes.Snappy,
    lz4: CompressionTypes.LZ4,
    zstd: CompressionTypes.ZSTD,
}

/** The messages are all that is there: read back, or without groups counted and told of. */
async function expectThere(script, topic, partition, messages) {
    if (script.withoutGroups) {
        script.wrote(topic, partition, messages)
        expect(
            (await offsets(script, topic))[partition],
            { low: 0, high: messages.length },
            'offsets',
        )
    } else {
        expectMessages(
            (await read(script, topic, { [partition]: 'beginning' }))[partition],
            messages,
        )
    }
}

export async function produce(script) {
    const topic = script.name('produce')
    await createTopic(script, topic, 30)
    let used = 0

    /** Writes to a partition that is still empty and expects the same there. */
    const roundTrip = async (messages, options) => {
        const partition = used++
        const written = messages.map((message) => ({ ...message, partition }))
        const answers = await write(script, topic, written, options)
        if (options?.acks === 0) {
            const there = async () =>
                (await offsets(script, topic))[partition].high === written.length
            await eventually('what was written without acknowledgement is there', there)
        }
        await expectThere(script, topic, partition, written)
        return answers[partition]
    }
    const message = (fields) => ({ ...text('value'), key: Buffer.from('key'), ...fields })

    for (const [name, compression] of Object.entries(CODECS)) {
        await script.check(`codec-${name}`, () =>
            roundTrip(range(0, 100).map(record), { compression }),
        )
    }
    await script.check('headers', async () => {
        // The headers of one name come together in an array, so that only their own order is kept.
        const headers = {
            b: [Buffer.from([0, 255]), Buffer.from('2')],
            a: Buffer.from('1'),
            '': Buffer.alloc(0),
        }
        await roundTrip([message({ headers })])
    })
    script.unsupported('null-header', 'KafkaJS fails with a TypeError on a header without a value')
    await script.check('null-key', () =>
        roundTrip([message({ key: null }), message({ key: Buffer.alloc(0) })]),
    )
    await script.check('null-value', () =>
        roundTrip([message({ value: null }), message({ value: Buffer.alloc(0) })]),
    )
    for (const [name, acks] of [
        ['acks-0', 0],
        ['acks-1', 1],
        ['acks-all', -1],
    ]) {
        await script.check(name, async () => {
            const baseOffset = await roundTrip(range(0, 10).map(record), { acks })
            if (acks !== 0) expect(baseOffset, 0, 'the acknowledged offset')
        })
    }
    await script.check('idempotent', () =>
        roundTrip(range(0, 100).map(record), {
            config: { idempotent: true, maxInFlightRequests: 1 },
        }),
    )
    await script.check('partition', async () => {
        const messages = range(used, used + 3).map((partition) => ({ ...record(0), partition }))
        used += 3
        await write(script, topic, messages)
        for (const one of messages) await expectThere(script, topic, one.partition, [one])
    })
    await script.check('timestamp', () =>
        roundTrip([message({ timestamp: '1' }), message({ timestamp: '2' })]),
    )
    await script.check('large-message', () =>
        roundTrip([message({ value: Buffer.alloc(900_000, 'larger ') })]),
    )
    await script.check('log-append-time', () => logAppendTime(script))
    await script.check('too-large-message', async () => {
        const name = script.name('small')
        await createTopic(script, name, 1, { 'max.message.bytes': '10000' })
        await refusedThenTaken(
            script,
            name,
            'MESSAGE_TOO_LARGE',
            message({ value: Buffer.alloc(20_000) }),
        )
    })
    await script.check('compacted-null-key', async () => {
        const name = script.name('compacted')
        await createTopic(script, name, 1, { 'cleanup.policy': 'compact' })
        await refusedThenTaken(script, name, 'INVALID_RECORD', message({ key: null }))
    })
    await script.check('auto-create', async () => {
        const name = script.name('auto-created')
        const fresh = { ...record(0), timestamp: `${Date.now()}`, partition: 0 }
        await write(script, name, [fresh])
        await expectThere(script, name, 0, [fresh])
    })
}

async function logAppendTime(script) {
    const topic = script.name('log-append-time')
    await createTopic(script, topic, 1, { 'message.timestamp.type': 'LogAppendTime' })
    const producer = script.kafka.producer()
    await producer.connect()
    const [answer] = await producer.send({ topic, messages: [{ ...record(0), partition: 0 }] })
    await producer.disconnect()
    expect(Number(answer.logAppendTime) > FIRST_TIMESTAMP, true, "the broker's time is later")
    if (script.withoutGroups) {
        script.wrote(topic, 0, [{ ...record(0), timestamp: answer.logAppendTime }])
        return
    }
    const { 0: found } = await read(script, topic, { 0: 'beginning' })
    expect(found[0].timestamp, answer.logAppendTime, 'the timestamp as it was acknowledged')
}

async function refusedThenTaken(script, topic, errorName, bad) {
    await refused(errorName, () => write(script, topic, [{ ...bad, partition: 0 }]))
    expect(
        await write(script, topic, [{ ...record(0), partition: 0 }]),
        { 0: 0 },
        "the next message's offset",
    )
}
