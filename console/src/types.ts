// What the control port answers, as far as the page shows it; /openapi.json has all of it.

export interface About {
  kind: "broker" | "controller" | "cluster" | "proxy" | "recording";
  version: string;
}

export interface RequestSeen {
  number: number;
  at_ms: number;
  listener: string;
  address: string;
  client_id: string | null;
  software: string;
  user: string;
  api: string;
  version: number;
  correlation_id: number;
  request_bytes: number;
  has_waited: boolean;
  took_us: number | null;
  answer_bytes: number | null;
  errors: Record<string, number> | null;
  dropped: string;
  broker: number;
}

export interface LogLine {
  at_ms: number;
  area: string;
  level: string;
  text: string;
  values: Record<string, string>;
  broker: number;
}

export interface FaultFired {
  name: string;
  fired: number;
  at_ms: number;
  api: string;
  client_id: string | null;
}

export interface StepPartition {
  topic: string;
  partition: number;
  offset: number;
  records: number;
}

export interface Step {
  what: "request" | "waits" | "answer" | "state" | "marker";
  at_ms: number;
  number: number;
  api: string;
  client_id: string | null;
  address: string;
  transactional_id: string | null;
  group: string | null;
  producer_id: number;
  producer_epoch: number;
  state: string;
  partitions: StepPartition[];
  errors: Record<string, number>;
  broker: number;
}

export interface BrokerState {
  broker_id: number;
  listeners: Record<string, string>;
  ready: boolean;
  here: boolean;
  producer_ids: [number, number][] | null;
}

export interface Brokers {
  cluster_id: string;
  bootstrap: string;
  node_id: number;
  brokers: BrokerState[];
}

export interface ProcessState {
  id: number;
  label: string;
  state: string;
  pid: number | null;
  roles: string[];
}

export interface TopicState {
  name: string;
  topic_id: string;
  partitions: { partition: number; leader: number; replicas: number[]; isr: number[] }[];
}

export interface LsoHolder {
  producer_id: number;
  producer_epoch: number;
  start_offset: number;
  transactional_id: string | null;
  coordinator_id: number | null;
  state: string | null;
  hangs: boolean;
  ends_in_ms: number | null;
}

export interface PartitionExplained {
  topic: string;
  partition: number;
  leader_id: number;
  last_stable_offset: number;
  high_watermark: number;
  lag: number;
  start_offset: number | null;
  holder: LsoHolder | null;
}

export interface TransactionExplained {
  transactional_id: string;
  coordinator_id: number;
  state: string;
  producer_id: number;
  producer_epoch: number;
  timeout_ms: number;
  now_ms: number;
  started_ms: number | null;
  since_ms: number | null;
  ends_in_ms: number | null;
  markers:
    | { topic: string; partition: number; broker_id: number | null; is_held: boolean }[]
    | null;
  requests: { api: string; client: { client_id: string | null; address: string } | null }[] | null;
  client: { client_id: string | null; address: string; is_connected: boolean } | null;
  partitions: PartitionExplained[];
  kept_by: { producer_id: number; producer_epoch: number } | null;
}

export interface ListedTransaction {
  transactional_id: string;
  producer_id: number;
  state: string;
}
