// Values decoded by a schema file of the user's. The broker decodes them; the file stays in this tab.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { ProblemError, tell } from "./api";
import { Field, Text, Wrong } from "./ui";

export interface DecodedValue {
  text: string | null;
  type: string;
  schema_id: number | null;
  problem: string;
}

interface Schema {
  file: string;
  /** The file's content, in base64. */
  schema: string;
  type: string;
  framing: string;
  /** The message types of the file, once they are known. */
  types: string[];
  /** What is decoded already, by value in base64. */
  decoded: Map<string, DecodedValue>;
}

/** By topic. */
const schemas = signal<Record<string, Schema>>({});
const ASKED = 500;
/** In base64; a request's body may have a megabyte, and the schema is in it. */
const ASKED_CHARS = 400_000;
const FILE_BYTES = 400_000;
const REMEMBERED = 5000;
const FRAMINGS = { auto: "is found out", plain: "has none", registry: "is there: Confluent's" };

function change(topic: string, changes: Partial<Schema>): void {
  const old = schemas.value[topic] ?? { file: "", schema: "", type: "", framing: "auto", types: [], decoded: new Map() };
  schemas.value = { ...schemas.value, [topic]: { ...old, decoded: new Map(), ...changes } };
}

/** What a value of a topic is; undefined while that is not known. */
export function decodedOf(topic: string, value: string | null, isWhole: boolean): DecodedValue | undefined {
  if (value === null || !schemas.value[topic]) return undefined;
  if (!isWhole) return { text: null, type: "", schema_id: null, problem: "It is too large to be decoded here." };
  return schemas.value[topic].decoded.get(value);
}

/** Lets the broker decode those of a topic's values that are not decoded yet. */
export function useDecoded(topic: string, values: string[]): { problem: ProblemError | undefined } {
  const schema = schemas.value[topic];
  const [failed, setFailed] = useState<{ of: Schema; problem: ProblemError } | null>(null);
  const missing = schema ? [...new Set(values)].filter((each) => !schema.decoded.has(each)) : [];
  const next = missing.slice(0, ASKED);
  while (next.length > 1 && next.reduce((sum, each) => sum + each.length, 0) > ASKED_CHARS) next.length >>= 1;
  const isFailed = failed !== null && failed.of.schema === schema?.schema && failed.of.type === schema.type;
  const wanted = isFailed || !schema ? "" : next.join(" ");
  useEffect(() => {
    if (!schema || isFailed || (next.length === 0 && schema.types.length > 0)) return;
    const go = async () => {
      try {
        const { file, schema: content, type, framing } = schema;
        const body = { file, schema: content, type, framing, values: next };
        const told = await tell<{ types: string[]; values: DecodedValue[] }>("POST", "/v1/decoded-values", body);
        const now = schemas.value[topic];
        if (!now || now.schema !== content || now.type !== type || now.framing !== framing) return;
        const decoded = new Map(now.decoded.size > REMEMBERED ? [] : now.decoded);
        told.values.forEach((each, at) => decoded.set(next[at]!, each));
        change(topic, { types: told.types, decoded });
      } catch (problem) {
        if (!(problem instanceof ProblemError)) throw problem;
        setFailed({ of: schema, problem });
      }
    };
    void go();
  }, [topic, schema, wanted]);
  return { problem: isFailed ? failed.problem : undefined };
}

/** Chooses the schema file of a topic, the type in it, and whether values begin with a schema's id. */
export function SchemaChoice(props: { topic: string; problem: ProblemError | undefined }) {
  const [refused, setRefused] = useState("");
  const [isOver, setOver] = useState(false);
  const schema = schemas.value[props.topic];
  const take = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > FILE_BYTES) return setRefused(`This file has more than ${FILE_BYTES.toLocaleString("en")} bytes.`);
    setRefused("");
    const bytes = new Uint8Array(await file.arrayBuffer());
    const content = btoa(bytes.reduce((text, each) => text + String.fromCharCode(each), ""));
    change(props.topic, { file: file.name, schema: content, type: "", types: [] });
  };
  return (
    <div
      class={`drop filters ${isOver ? "over" : ""}`}
      onDragOver={(e) => (e.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => (e.preventDefault(), setOver(false), void take(e.dataTransfer?.files[0]))}
    >
      <Field label="Schema file: .avsc, .proto or a descriptor set; drop it here">
        <input
          type="file"
          onChange={(e) => {
            void take(e.currentTarget.files?.[0]);
            e.currentTarget.value = ""; // or the same file could not be chosen again, after a change
          }}
        />
      </Field>
      {schema && (
        <p class="hint used">
          Used: <Text of={schema.file} />
        </p>
      )}
      {schema && schema.types.length > 1 && (
        <Field label="Message type">
          <select value={schema.type} onChange={(e) => change(props.topic, { type: e.currentTarget.value })}>
            <option value="">the first one, or the one that a value names</option>
            {schema.types.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
      )}
      {schema && (
        <Field label="The id of a schema before each value">
          <select value={schema.framing} onChange={(e) => change(props.topic, { framing: e.currentTarget.value })}>
            {Object.entries(FRAMINGS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </Field>
      )}
      {refused && (
        <span class="wrong" role="alert">
          {refused}
        </span>
      )}
      <Wrong problem={props.problem} />
    </div>
  );
}
