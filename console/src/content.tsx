// Keys and values of records, as text, JSON, hex or numbers, or by a schema of their own.

import { decode } from "./bytes";
import type { DecodedValue } from "./schemas";
import { size, visible } from "./text";
import { Tag, Text } from "./ui";

export const FORMS = { "": "text", json: "JSON", hex: "hex", number: "numbers", schema: "Avro or Protobuf" };

const hex = (bytes: Uint8Array): string => [...bytes].map((each) => each.toString(16).padStart(2, "0")).join(" ");

function asText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function asJson(text: string | null): string | null {
  try {
    return text === null ? null : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** Numbers as Java's serializers write them; other lengths have none. */
function asNumbers(bytes: Uint8Array): string | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 2) return `${view.getInt16(0)} (short)`;
  if (bytes.length === 4) return `${view.getInt32(0)} (int), ${view.getFloat32(0)} (float)`;
  if (bytes.length === 8) return `${view.getBigInt64(0)} (long), ${view.getFloat64(0)} (double)`;
  return null;
}

/** Lines of JSON that is written already. */
function Json(props: { of: string }) {
  return (
    <code class="json">
      {props.of.split("\n").map((line, at) => (
        <div key={at}>
          <Text of={line} />
        </div>
      ))}
    </code>
  );
}

/** Bytes in the form that is asked for; in hex, if they cannot be that. */
export function Content(props: { of: string | null; size: number; form: string; decoded?: DecodedValue }) {
  if (props.of === null) return <span class="none">null</span>;
  const { decoded } = props;
  if (decoded) {
    return (
      <>
        {decoded.text !== null && (
          <>
            <Tag>
              {visible(decoded.type)}
              {decoded.schema_id !== null && `, schema ${decoded.schema_id}`}
            </Tag>
            <Json of={decoded.text} />
          </>
        )}
        {decoded.problem && <p class="wrong">{visible(decoded.problem)}</p>}
        {decoded.text === null && <Content of={props.of} size={props.size} form="hex" />}
      </>
    );
  }
  const bytes = decode(props.of);
  const isCut = props.size > bytes.length;
  const rest = isCut && <small> … {size(props.size)}</small>;
  if (bytes.length === 0) return <span class="none">empty</span>;
  // The last character of what was cut may be a half one.
  const text = asText(bytes) ?? (isCut ? new TextDecoder("utf-8").decode(bytes) : null);
  if (props.form === "json" && !isCut) {
    const json = asJson(text);
    if (json !== null) return <Json of={json} />;
  }
  if (props.form === "number") {
    const numbers = asNumbers(bytes);
    if (numbers !== null) return <code>{numbers}</code>;
  }
  if (props.form === "hex" || text === null) {
    return (
      <>
        <code title={props.form === "hex" ? undefined : "Not UTF-8: the bytes in hex"}>{hex(bytes)}</code>
        {rest}
      </>
    );
  }
  return (
    <>
      <Text of={text} none="empty" />
      {rest}
    </>
  );
}
