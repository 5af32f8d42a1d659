// KafkaJS: a record in and out, or what was wrong.

import { readFileSync } from 'node:fs'
import { Kafka, logLevel } from 'kafkajs'

const [bootstrap, protocol, mechanism, username, password, authority, topic] = process.argv.slice(2)
const kafka = new Kafka({
    brokers: [bootstrap],
    ssl: protocol.includes('SSL') ? { ca: [readFileSync(authority)] } : undefined,
    sasl: { mechanism: mechanism.toLowerCase(), username, password },
    logLevel: logLevel.NOTHING,
})
try {
    const producer = kafka.producer()
    await producer.connect()
    await producer.send({ topic, messages: [{ value: 'secret' }] })
    await producer.disconnect()
    const consumer = kafka.consumer({ groupId: topic })
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise((resolve) => consumer.run({ eachMessage: async () => resolve() }))
    await consumer.disconnect()
} catch (error) {
    console.error(error.name.toUpperCase(), error.message)
    process.exit(1)
}
