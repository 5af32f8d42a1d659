import { createTopic, range, text, withAdmin, write } from './cluster.mjs'
import { eventually, expect, inTime } from './script.mjs'

const PARTITIONS = 4

export function consumerProtocol(script) {
    for (const check of ['share', 'commit', 'describe', 'leave', 'resume', 'delete', 'static']) {
        script.unsupported(check, 'KafkaJS speaks the classic group protocol only')
    }
}

/** A running member of a group: its partitions, the numbers that it has read, its next offsets. */
async function join(script, group) {
    const consumer = script.kafka.consumer({
        groupId: group,
        heartbeatInterval: 200,
        maxWaitTimeInMs: 50,
    })
    const member = { consumer, partitions: [], numbers: [], nextOffsets: {} }
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        member.partitions = payload.memberAssignment[group] ?? []
    })
    await consumer.connect()
    await consumer.subscribe({ topic: group, fromBeginning: true })
    await consumer.run({
        autoCommit: false,
        eachMessage: async ({ partition, message }) => {
            member.numbers.push(Number(message.value.toString()))
            member.nextOffsets[partition] = Number(message.offset) + 1
        },
    })
    return member
}

function commit(group, { consumer, nextOffsets }) {
    return consumer.commitOffsets(
        Object.entries(nextOffsets).map(([partition, offset]) => ({
            topic: group,
            partition: Number(partition),
            offset: `${offset}`,
        })),
    )
}

const sorted = (numbers) => [...numbers].sort((one, other) => one - other)

export async function groups(script) {
    const group = script.name('groups')
    await createTopic(script, group, PARTITIONS)
    const writeNumbers = (first, end) =>
        write(
            script,
            group,
            range(first, end).map((i) => text(`${i}`, i % PARTITIONS)),
        )

    await withAdmin(script, async (admin) => {
        const expectCommitted = async (wanted) => {
            const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [group] })
            const actual = Object.fromEntries(
                partitions.map(({ partition, offset }) => [partition, Number(offset)]),
            )
            expect(actual, { 0: wanted, 1: wanted, 2: wanted, 3: wanted }, 'the committed offsets')
        }
        const listed = async () =>
            (await admin.listGroups()).groups.some(({ groupId }) => groupId === group)

        const [first, second] = await inTime(
            Promise.all([join(script, group), join(script, group)]),
            'both join',
        )
        await script.check('share', async () => {
            await eventually(
                'both have partitions, and together all of them',
                () =>
                    first.partitions.length > 0 &&
                    second.partitions.length > 0 &&
                    sorted([...first.partitions, ...second.partitions]).join() === '0,1,2,3',
            )
            await writeNumbers(0, 40)
            await eventually(
                '40 numbers are read',
                () => first.numbers.length + second.numbers.length >= 40,
            )
            expect(sorted([...first.numbers, ...second.numbers]), range(0, 40), 'the numbers')
        })
        await script.check('commit', async () => {
            await commit(group, first)
            await commit(group, second)
            await expectCommitted(10)
        })
        await script.check('describe', async () => {
            expect(await listed(), true, 'the group is listed')
            const { groups } = await admin.describeGroups([group])
            expect([groups[0].state, groups[0].members.length], ['Stable', 2], 'state and members')
        })
        await script.check('leave', async () => {
            await second.consumer.disconnect()
            await eventually(
                'the first has all partitions',
                () => first.partitions.length === PARTITIONS,
            )
        })
        await first.consumer.disconnect()
        await script.check('resume', async () => {
            await writeNumbers(40, 60)
            const third = await join(script, group)
            await eventually('20 numbers are read', () => third.numbers.length >= 20)
            expect(sorted(third.numbers), range(40, 60), 'the new numbers')
            await commit(group, third)
            await third.consumer.disconnect()
            await expectCommitted(15)
        })
        await script.check('delete', async () => {
            await admin.deleteGroups([group])
            expect(await listed(), false, 'the group is still listed')
        })
        script.unsupported('static', 'KafkaJS has no setting for an instance id')
    })
}
