import { settings } from './admin.mjs'
import {
    PARTITIONS,
    RECORDS,
    createTopic,
    expectNumbered,
    fromBeginning,
    numbered,
    offsets,
    range,
    read,
    withAdmin,
    write,
} from './cluster.mjs'
import { expect } from './script.mjs'

export async function restartBefore(script) {
    await script.check('write', async () => {
        await createTopic(script, script.name('restart'), PARTITIONS)
        await writeNumbered(script, 0, RECORDS)
    })
}

export const restartAfter = (script) => afterRestart(script, RECORDS)
export const killAfter = (script) => afterRestart(script, 2 * RECORDS)

/** So many records are there; as many as the first time are written behind them. */
async function afterRestart(script, there) {
    const topic = script.name('restart')
    const expectThere = async (count, isAll) => {
        const wanted = { low: 0, high: count / PARTITIONS }
        for (const partition of range(0, PARTITIONS))
            expect((await offsets(script, topic))[partition], wanted, 'offsets')
        if (!script.withoutGroups) {
            expectNumbered(await read(script, topic, fromBeginning), 0, count)
        }
        if (script.withoutGroups && isAll) tellWritten(count)
    }
    const tellWritten = (count) => {
        for (const partition of range(0, PARTITIONS)) {
            const messages = numbered(0, count).filter((one) => one.partition === partition)
            script.wrote(topic, partition, messages)
        }
    }
    await script.check('topic-kept', () =>
        withAdmin(script, async (client) => {
            const { topics } = await client.fetchTopicMetadata({ topics: [topic] })
            expect(topics[0].partitions.length, PARTITIONS, 'partitions')
            expect(
                (await settings(client, topic))['retention.ms'].configValue,
                '-1',
                'retention.ms',
            )
        }),
    )
    await script.check('read-back', () => expectThere(there, false))
    await script.check('write-more', async () => {
        const next = there / PARTITIONS
        expect(
            await writeNumbered(script, there, there + RECORDS),
            { 0: next, 1: next, 2: next },
            'the first offsets',
        )
    })
    await script.check('read-all', () => expectThere(there + RECORDS, true))
}

function writeNumbered(script, first, end) {
    const config = { idempotent: true, maxInFlightRequests: 1 }
    return write(script, script.name('restart'), numbered(first, end), { config })
}
