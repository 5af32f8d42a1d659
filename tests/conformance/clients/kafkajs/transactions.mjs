import { createTopic, range, reading, text, withAdmin, write } from './cluster.mjs'
import { eventually, expect, inTime, refused } from './script.mjs'

export async function transactions(script) {
    const topic = script.name('transactions')
    await createTopic(script, topic, 8)
    const producers = []

    const producer = async (suffix, config = {}) => {
        const one = script.kafka.producer({
            ...config,
            transactionalId: script.name(suffix),
            idempotent: true,
            maxInFlightRequests: 1,
            // On CONCURRENT_TRANSACTIONS, while the last one is being ended: else 300 ms.
            retry: { initialRetryTime: 20, retries: Number.MAX_SAFE_INTEGER },
        })
        producers.push(one)
        await one.connect()
        return one
    }
    /** Begins a transaction and writes one message. */
    const begin = async (one, partition, value) => {
        const transaction = await one.transaction()
        await transaction.send({ topic, messages: [text(value, partition)] })
        return transaction
    }
    try {
        await ends(script, topic, producer, begin)
        await script.check('fencing', async () => {
            const first = await begin(await producer('fenced'), 5, 'first')
            const successor = await producer('fenced')
            const second = await begin(successor, 5, 'second')
            await second.commit()
            // Until its markers are there, the first one would be told to come again, which KafkaJS
            // does not do. The next transaction begins behind them.
            const third = await begin(successor, 5, 'third')
            // What EndTxn v1 answers; KafkaJS says with it that there may be a newer producer.
            await refused('INVALID_PRODUCER_EPOCH', () => first.commit())
            await third.abort()
            await seen(script, topic, 5, ['second'])
        })
        await script.check('timeout', async () => {
            const late = await begin(await producer('late', { transactionTimeout: 1000 }), 7, 'late')
            await write(script, topic, [text('behind', 7)])
            await seen(script, topic, 7, ['behind'])
            await refused('INVALID_PRODUCER_EPOCH', () => late.commit())
        })
        await offsetsInTransactions(script, topic, producer, begin)
    } finally {
        await Promise.all(producers.map((one) => one.disconnect()))
    }
}

/** The values in a partition, as a reader sees them until a fetch brings nothing more. */
async function values(script, topic, partition, readUncommitted = false) {
    const found = []
    await reading(
        script,
        { fromBeginning: true, readUncommitted },
        topic,
        async (next, consumer, arrived) => {
            // A fetch is told of before what it brought is handed out, the next one of the same
            // broker thereafter.
            const arrivedBefore = new Map()
            const waitedFor = await leaders(script, topic)
            await inTime(
                new Promise((resolve) =>
                    consumer.on(consumer.events.FETCH, ({ payload: { nodeId } }) => {
                        if (arrived.length === arrivedBefore.get(nodeId)) waitedFor.delete(nodeId)
                        if (waitedFor.size === 0) resolve()
                        arrivedBefore.set(nodeId, arrived.length)
                    }),
                ),
                'a fetch that brings nothing more',
            )
            found.push(...arrived.filter((one) => one.partition === partition))
        },
    )
    return found.map(({ message }) => message.value.toString())
}

/** Who leads the topic's partitions. */
function leaders(script, topic) {
    return withAdmin(script, async (admin) => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
        return new Set(topics[0].partitions.map(({ leader }) => `${leader}`))
    })
}

/** What ends a transaction is answered before its markers are written. */
function seen(script, topic, partition, wanted) {
    return eventually(
        `a read_committed reader sees exactly ${wanted}`,
        async () => (await values(script, topic, partition)).join() === wanted.join(),
    )
}

async function ends(script, topic, producer, begin) {
    await script.check('commit', async () => {
        const transaction = await begin(await producer('commit'), 0, 'a')
        await transaction.send({ topic, messages: [text('b', 1)] })
        await transaction.commit()
        await seen(script, topic, 0, ['a'])
        await seen(script, topic, 1, ['b'])
    })
    await script.check('abort', async () => {
        const transaction = await begin(await producer('abort'), 2, 'aborted')
        await transaction.abort()
        await write(script, topic, [text('after', 2)])
        expect(await values(script, topic, 2, true), ['aborted', 'after'], 'read_uncommitted')
        await seen(script, topic, 2, ['after'])
    })
    await script.check('open', async () => {
        const transaction = await begin(await producer('open'), 3, 'open')
        await write(script, topic, [text('behind', 3)])
        expect(await values(script, topic, 3), [], 'read_committed while the transaction is open')
        expect(await values(script, topic, 3, true), ['open', 'behind'], 'read_uncommitted')
        await transaction.commit()
        await seen(script, topic, 3, ['open', 'behind'])
    })
    await script.check('alternate', async () => {
        const one = await producer('alternate')
        for (const i of range(0, 20)) {
            const transaction = await begin(one, 4, `${i}`)
            await (i % 2 === 0 ? transaction.commit() : transaction.abort())
        }
        await seen(
            script,
            topic,
            4,
            range(0, 10).map((i) => `${2 * i}`),
        )
    })
}

async function offsetsInTransactions(script, topic, producer, begin) {
    const group = script.name('transactional-group')
    await withAdmin(script, async (admin) => {
        const one = await producer('send-offsets')
        const sendOffset = async (offset) => {
            const transaction = await begin(one, 6, 'with an offset')
            const topics = [{ topic, partitions: [{ partition: 6, offset: `${offset}` }] }]
            await transaction.sendOffsets({ consumerGroupId: group, topics })
            return transaction
        }
        const committed = async () => {
            const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
            return partitions.find(({ partition }) => partition === 6)?.offset
        }
        await script.check('send-offsets', async () => {
            await (await sendOffset(7)).commit()
            await eventually('offset 7 is committed', async () => (await committed()) === '7')
        })
        await script.check('send-offsets-abort', async () => {
            await (await sendOffset(9)).abort()
            expect(await committed(), '7', 'the committed offset')
        })
    })
}
