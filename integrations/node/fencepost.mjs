// Starts a Fencepost broker for tests and controls it over HTTP.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts a broker. The arguments are those of `fencepost up`, such as "--topic", "orders:1". */
export async function start(...args) {
  const command = process.env.FENCEPOST || "fencepost";
  const options = ["up", "--port", "0", "--control", "0", "--json", "--exit-with-parent"];
  const child = spawn(command, [...options, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? signal));
  });
  const lines = createInterface({ input: child.stdout });
  const ready = await Promise.race([
    once(lines, "line").then(([line]) => JSON.parse(line)),
    ended.then((how) => {
      throw new Error(`${command} up ended with ${how} before it was ready`);
    }),
  ]);
  return new Broker(child, ended, ready);
}

/** A broker that runs, and its control port. */
export class Broker {
  #child;
  #ended;

  constructor(child, ended, ready) {
    this.#child = child;
    this.#ended = ended;
    this.bootstrap = ready.bootstrap;
    this.control = ready.control;
    this.pid = ready.pid;
  }

  /** Adds a fault rule: { name, match: { api }, act: { type }, times, ... }. Returns its status. */
  addFault(rule) {
    return this.request("POST", "/v1/faults", rule);
  }

  async faults() {
    return (await this.request("GET", "/v1/faults")).faults;
  }

  /** Waits until a rule has fired so often, and returns its status. */
  waitUntilFired(name, times = 1, timeoutMs = 10_000) {
    const query = `times=${times}&timeout_ms=${timeoutMs}`;
    return this.request("GET", `/v1/faults/${encodeURIComponent(name)}/fired?${query}`);
  }

  removeFault(name) {
    return this.request("DELETE", `/v1/faults/${encodeURIComponent(name)}`);
  }

  /** Moves the broker's clock: { days, hours, minutes, seconds, ms }. */
  advanceClock(by) {
    return this.request("POST", "/v1/clock/advance", by);
  }

  /** Holds back markers of { transactional_id, topic, partition }, each optional; returns an id. */
  async holdMarkers(of = {}) {
    return (await this.request("POST", "/v1/markers/holds", of)).hold;
  }

  releaseMarkers(hold) {
    return this.request("DELETE", `/v1/markers/holds/${hold}`);
  }

  /** Creates a topic; options are { replication_factor, configs }. */
  createTopic(name, partitions = 1, options = {}) {
    return this.request("POST", "/v1/topics", { name, partitions, ...options });
  }

  async topics() {
    return (await this.request("GET", "/v1/topics")).topics;
  }

  deleteTopic(name) {
    return this.request("DELETE", `/v1/topics/${encodeURIComponent(name)}`);
  }

  /** Goes back to the state right after the start and removes all faults. Clients connect again. */
  reset() {
    return this.request("POST", "/v1/reset");
  }

  /** Makes a scenario happen, such as "lost-commit-answer", and returns its timeline and facts. */
  runScenario(name) {
    return this.request("POST", `/v1/scenarios/${encodeURIComponent(name)}/run`);
  }

  /** Removes all faults and holds, and throws if a rule has never fired. Call it after each test. */
  async check() {
    const unfired = (await this.faults()).filter((each) => !each.fired && !each.rule.may_stay_unfired);
    await this.request("DELETE", "/v1/faults");
    for (const { hold } of (await this.request("GET", "/v1/markers/holds")).holds) {
      await this.releaseMarkers(hold);
    }
    if (unfired.length > 0) {
      throw new Error(`fault rules never fired: ${unfired.map((each) => each.name).join(", ")}`);
    }
  }

  /** Stops the broker and waits until its process has ended. */
  async stop() {
    this.#child.kill("SIGTERM");
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await this.#ended;
    clearTimeout(kill);
  }

  /** Sends any request to the control port and returns the answer's JSON. */
  async request(method, path, body) {
    const response = await fetch(`http://${this.control}${path}`, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status}: ${text}`);
    }
    return text ? JSON.parse(text) : undefined;
  }
}
