// A step as a sentence: the picture for those who read.

import { many } from "../text";
import type { Step } from "../types";
import { partitionName } from "./model";

const REQUESTS: Record<string, string> = {
  FindCoordinator: "asks which broker is its coordinator",
  InitProducerId: "asks for a producer id and an epoch",
  AddPartitionsToTxn: "adds partitions to its transaction",
  AddOffsetsToTxn: "adds a group's offsets to its transaction",
};

const STATES: Record<string, string> = {
  Empty: "has a producer id, and no transaction is open",
  Ongoing: "has an open transaction",
  PrepareCommit: "will be committed: the outcome is in the log and cannot change",
  PrepareAbort: "will be aborted: the outcome is in the log and cannot change",
  CompleteCommit: "is committed: every partition has its marker",
  CompleteAbort: "is aborted: every partition has its marker",
  Dead: "is forgotten",
};

const FENCED = new Set(["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"]);

export const whoIs = (step: Step): string => step.transactional_id ?? step.client_id ?? step.address;

export function sentence(step: Step): string {
  const at = step.partitions.map(partitionName).join(", ");
  switch (step.what) {
    case "request":
      if (step.api === "Produce") {
        const count = step.partitions.reduce((sum, each) => sum + each.records, 0);
        return `sends ${many(count, "record")} to ${at}`;
      }
      if (step.api === "OffsetCommit") return `commits offsets of group ${step.group}`;
      if (step.api === "TxnOffsetCommit") return `commits offsets of group ${step.group} with its transaction`;
      if (step.api === "EndTxn") return `asks to ${step.state} its transaction`;
      return (REQUESTS[step.api] ?? "asks") + (step.group ? ` of group ${step.group}` : "");
    case "waits":
      return `waits for the answer to ${step.api}`;
    case "answer": {
      const errors = Object.keys(step.errors);
      if (errors.some((each) => FENCED.has(each)))
        return `is fenced: ${errors.join(", ")}. A newer producer has its transactional id, or its transaction timed out`;
      if (errors.length) return `is refused: ${errors.join(", ")}`;
      if (step.api === "InitProducerId") return `is producer ${step.producer_id}, epoch ${step.producer_epoch}`;
      return `has the answer to ${step.api}`;
    }
    case "state":
      return `${STATES[step.state] ?? step.state}${at ? ` (${at})` : ""}`;
    case "marker":
      return `has a ${step.state} marker in ${at}, at offset ${step.partitions[0]?.offset}`;
  }
  return "";
}
