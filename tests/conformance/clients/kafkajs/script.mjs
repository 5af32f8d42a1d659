import { isDeepStrictEqual } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'

// How long a check waits for one thing before it gives it up.
const GIVE_UP_MS = 30_000

/** One call of the program: where the broker is, and what its checks report. */
export class Script {
    failed = false
    #checking = ''

    constructor(bootstrap, prefix, withoutGroups) {
        this.bootstrap = bootstrap
        this.prefix = prefix
        this.withoutGroups = withoutGroups
        this.kafka = new Kafka({
            brokers: bootstrap.split(','),
            clientId: prefix,
            logLevel: logLevel.WARN,
            logCreator: () => (entry) => console.error(`${entry.namespace}: ${entry.log.message}`),
        })
    }

    /** The name of a topic, a group or a transactional id. */
    name(suffix) {
        return `${this.prefix}-${suffix}`
    }

    async run(scenario, body) {
        this.scenario = scenario
        try {
            await body(this)
        } catch (error) {
            this.#print({ check: 'set-up', ok: false, detail: describe(error) })
        }
    }

    /** Reports the check as ok, or as failed with the error that ended it. */
    async check(name, body) {
        this.#checking = name
        const started = performance.now()
        let detail = ''
        let ok = true
        try {
            await inTime(body(), `the whole check ${name}`)
        } catch (error) {
            ok = false
            detail = describe(error)
        }
        this.#print({ check: name, ok, detail, ms: Math.round(performance.now() - started) })
    }

    /** Reports a check for which the client has no means. */
    unsupported(name, reason) {
        this.#print({ check: name, ok: true, detail: reason, unsupported: true })
    }

    /** Tells what must be in the partition, offset 0 first, for others to read. */
    wrote(topic, partition, messages) {
        const base64 = (bytes) => bytes?.toString('base64') ?? null
        const records = messages.map(({ key, value, headers, timestamp }) => ({
            key: base64(key),
            value: base64(value),
            headers: Object.entries(headers ?? {}).flatMap(([name, values]) =>
                [values].flat().map((one) => [name, base64(one)]),
            ),
            timestamp: Number(timestamp),
        }))
        const wrote = { topic, partition, records }
        console.log(JSON.stringify({ scenario: this.scenario, check: this.#checking, wrote }))
    }

    #print(line) {
        this.failed ||= !line.ok
        console.log(JSON.stringify({ scenario: this.scenario, ...line }))
    }
}

class Mismatch extends Error {}

export function expect(actual, wanted, what) {
    if (!isDeepStrictEqual(actual, wanted)) {
        throw new Mismatch(`${what}: ${short(actual)} instead of ${short(wanted)}`)
    }
}

/** Expects that the call fails with this error, by Kafka's name for it. */
export async function refused(errorName, call) {
    let answer
    try {
        answer = await call()
    } catch (error) {
        // The error of one of several topics, or of the last retry, is inside another.
        const inner = error.errors?.[0] ?? error
        if ((inner.type ?? inner.cause?.type) === errorName) return
        throw new Mismatch(`${errorName} expected, not ${describe(inner)} (${inner.type})`)
    }
    throw new Mismatch(`no ${errorName}, but ${short(answer)}`)
}

/** Asks again until it is so; for what a broker makes true a moment after its answer. */
export async function eventually(what, condition) {
    const deadline = performance.now() + GIVE_UP_MS
    while (!(await condition())) {
        if (performance.now() > deadline) throw new Mismatch(`not in time: ${what}`)
        await pause(20)
    }
}

/** What the promise brings, unless it takes too long. */
export async function inTime(promise, what) {
    const end = new AbortController()
    const late = pause(GIVE_UP_MS, undefined, { signal: end.signal }).then(() => {
        throw new Mismatch(`not in time: ${what}`)
    })
    try {
        return await Promise.race([promise, late])
    } finally {
        late.catch(() => {})
        end.abort()
    }
}

function describe(error) {
    if (error instanceof Mismatch) return error.message
    const line = /\/kafkajs\/(\w+\.mjs:\d+)/.exec(error.stack ?? '')
    return `${error.name}: ${error.message}${line ? ` (${line[1]})` : ''}`
}

function short(value) {
    const text =
        JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one)) ?? `${value}`
    return text.length <= 500 ? text : `${text.slice(0, 400)}... (${text.length} characters)`
}
