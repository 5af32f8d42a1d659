import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, afterEach, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Kafka, logLevel } from "kafkajs";
import { start } from "./fencepost.mjs";

let broker;
let kafka;
const clients = [];

before(async () => {
  broker = await start();
  kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.NOTHING });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.disconnect()));
  await broker.check();
});
after(async () => {
  await broker.stop();
  assert.throws(() => process.kill(broker.pid, 0), { code: "ESRCH" });
});

async function producerOf(transactionalId, transactionTimeout = 60_000) {
  const producer = kafka.producer({
    transactionalId, transactionTimeout, idempotent: true, maxInFlightRequests: 1,
  });
  clients.push(producer);
  await producer.connect();
  return producer;
}

/** Reads committed records of a topic: a list that grows, and a promise of the first `count`. */
async function readerOf(topic, count) {
  const consumer = kafka.consumer({ groupId: `readers-${topic}`, maxWaitTimeInMs: 100 });
  clients.push(consumer);
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const values = [];
  let done;
  const all = new Promise((resolve) => (done = resolve));
  await consumer.run({
    eachMessage: async ({ message }) => {
      values.push(message.value.toString());
      if (values.length === count) done();
    },
  });
  return { values, all };
}

async function write(producer, topic, value) {
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ value }] });
  return transaction;
}

test("a commit whose answer is lost commits exactly once", async () => {
  await broker.createTopic("orders");
  await broker.addFault({
    name: "lost", match: { api: "EndTxn" }, act: { type: "drop-answer" }, times: 1,
  });
  const broken = await write(await producerOf("payments"), "orders", "first");
  // KafkaJS does not repeat EndTxn: the program gets the error and starts its producer again.
  await assert.rejects(broken.commit());
  await broker.waitUntilFired("lost");
  const healed = await write(await producerOf("payments"), "orders", "second");
  await healed.commit();
  const reader = await readerOf("orders", 2);
  await reader.all;
  assert.deepEqual(reader.values, ["first", "second"]);
});

test("read_committed waits for held markers", async () => {
  await broker.createTopic("held");
  const hold = await broker.holdMarkers({ topic: "held" });
  await (await write(await producerOf("holding"), "held", "value")).commit();
  // A fetch that is answered while the marker is held shows that it gives no record.
  await broker.addFault({
    name: "fetched", match: { api: "Fetch", topic: "held" }, act: { type: "delay", ms: 0 },
  });
  const reader = await readerOf("held", 1);
  await broker.waitUntilFired("fetched", 2);
  assert.deepEqual(reader.values, []);
  await broker.releaseMarkers(hold);
  await reader.all;
});

test("a transaction times out when the clock is advanced", async () => {
  await broker.createTopic("expired");
  const transaction = await write(await producerOf("slow", 30_000), "expired", "value");
  await broker.advanceClock({ minutes: 5 });
  await assert.rejects(transaction.commit());
});

test("a rule that never fired is named", async () => {
  await broker.addFault({ name: "unused", match: { api: "Produce" }, act: { type: "drop-answer" } });
  await assert.rejects(broker.check(), /unused/);
  assert.deepEqual(await broker.faults(), []);
});

test("a scenario happens, and a reset forgets it", async () => {
  await broker.reset();
  const outcome = await broker.runScenario("lost-commit-answer");
  assert.equal(outcome.facts.second_answer, "NONE");
  assert.ok((await broker.topics()).some((each) => each.name === "orders"));
  await broker.reset();
  assert.ok(!(await broker.topics()).some((each) => each.name === "orders"));
});

test("a killed test process leaves no broker", async () => {
  const script = 'console.log((await (await import("./fencepost.mjs")).start()).pid)';
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: new URL(".", import.meta.url),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: parent.stdout }), "line");
  parent.kill("SIGKILL");
  const deadline = Date.now() + 20_000;
  const runs = () => {
    try {
      return process.kill(Number(line), 0);
    } catch {
      return false;
    }
  };
  while (runs()) {
    assert.ok(Date.now() < deadline, "the broker runs on");
    await setTimeout(50);
  }
});
