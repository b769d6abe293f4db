/**
 * Runs contracts in isolation: one worker thread with bounded memory and a time limit per call, replaced when either is exceeded.
 * The process itself never compiles a schema that a tenant wrote.
 */

import type { Finding } from '#decision/model.ts'
import { BoundedThread, ThreadFailure } from '#kernel/bounded-thread.ts'
import type { ThreadAdmission } from '#kernel/thread-admission.ts'
import type { ReadExamples } from './admit.ts'
import type {
  CheckedInference,
  ContractWorkerReply,
  ContractWorkerTask,
  InferenceSamples,
  TaskPayload,
} from './contract-worker.ts'
import type { InferenceOptions } from './infer-contract.ts'
import type { Contract, Violation } from './model.ts'
import type { ReadPayload } from './read-payload.ts'
import type { SketchSummary } from './sketch.ts'

export type { CheckedInference, TaskPayload }

export interface ContractRunnerOptions {
  /** The built contract-worker. */
  readonly script: URL | string
  /** CPU time of one call. */
  readonly time_limit_ms?: number
  /** How long a call may take by the clock on a busy machine. */
  readonly elapsed_limit_ms?: number
  readonly heap_limit_mib?: number
  readonly admission?: ThreadAdmission
}

/** A compiled contract is found again by its hash. */
export interface HashedContract {
  readonly contract: Contract
  readonly contract_hash: string
}

export interface ContractCheckResult {
  readonly findings: readonly Finding[]
  /** Null when the contract has errors. */
  readonly examples: ReadExamples | null
}

export interface ContractRunner {
  check(contract: unknown, caller: string): Promise<ContractCheckResult>
  /**
   * A payload that exceeds a limit of the thread is refused, as one that cannot be read. Where the machine is too busy to tell,
   * nothing is refused and the call fails.
   */
  read(contract: HashedContract, payloads: readonly TaskPayload[], caller: string): Promise<readonly ReadPayload[]>
  sketch(
    contract: HashedContract,
    payloads: readonly TaskPayload[],
    earlier: SketchSummary | null,
    caller: string,
  ): Promise<SketchSummary>
  /** The payload without personal values; null when it cannot be parsed. */
  redact(contract: Contract, payload: TaskPayload, caller: string): Promise<unknown>
  /** The whole payload as JSON; null when it cannot be parsed. */
  convert(contract: Contract, payload: TaskPayload, caller: string): Promise<unknown>
  /** The contract with a schema that the records of the payload fit. */
  widen(contract: Contract, payload: TaskPayload, caller: string): Promise<Contract>
  /** A text says why the samples cannot be used. */
  infer(samples: InferenceSamples, options: InferenceOptions, caller: string): Promise<CheckedInference | string>
  close(): Promise<void>
}

const TIME_LIMIT_MS = 10_000
const ELAPSED_LIMIT_MS = 20_000
const HEAP_LIMIT_MIB = 256
const MAX_WAITING = 200

export function createContractRunner(options: ContractRunnerOptions): ContractRunner {
  const { script, time_limit_ms = TIME_LIMIT_MS, elapsed_limit_ms = ELAPSED_LIMIT_MS, admission } = options
  const thread = new BoundedThread<ContractWorkerTask, ContractWorkerReply>({
    name: 'contract worker',
    script,
    time_limit_ms,
    elapsed_limit_ms,
    heap_limit_mib: options.heap_limit_mib ?? HEAP_LIMIT_MIB,
    max_waiting: MAX_WAITING,
    admission,
  })
  const run = async <Op extends ContractWorkerReply['op']>(
    task: ContractWorkerTask,
    op: Op,
    caller: string,
  ): Promise<Extract<ContractWorkerReply, { op: Op }>> => {
    const reply = await thread.run(task, { caller })
    if (reply.op === op) return reply as Extract<ContractWorkerReply, { op: Op }>
    throw new Error(reply.op === 'failed' ? reply.message : `The contract worker answered ${reply.op}`)
  }

  const readOne = async (contract: HashedContract, payload: TaskPayload, caller: string): Promise<ReadPayload> => {
    try {
      const { payloads } = await run({ op: 'read', ...toTaskContract(contract), payloads: [payload] }, 'read', caller)
      return payloads[0] as ReadPayload
    } catch (error) {
      if (!isLimitFailure(error)) throw error
      return createLimitRead(error.message)
    }
  }

  return {
    async check(contract, caller) {
      try {
        const { findings, examples } = await run({ op: 'check', contract }, 'checked', caller)
        return { findings, examples }
      } catch (error) {
        if (!isLimitFailure(error)) throw error
        const message = `The contract cannot be used: ${error.message}.`
        return { findings: [{ code: 'contract_unusable', pointer: '', message, severity: 'error' }], examples: null }
      }
    },
    async read(contract, payloads, caller) {
      try {
        return (await run({ op: 'read', ...toTaskContract(contract), payloads }, 'read', caller)).payloads
      } catch (error) {
        if (!isLimitFailure(error)) throw error
        if (payloads.length === 1) return [createLimitRead(error.message)]
        // One of them is too much: each on its own, so that only that one is refused.
        const read: ReadPayload[] = []
        for (const payload of payloads) read.push(await readOne(contract, payload, caller))
        return read
      }
    },
    async sketch(contract, payloads, earlier, caller) {
      return (await run({ op: 'sketch', ...toTaskContract(contract), payloads, earlier }, 'sketched', caller)).sketch
    },
    async redact(contract, payload, caller) {
      return (await run({ op: 'redact', contract, payload }, 'redacted', caller)).payload
    },
    async convert(contract, payload, caller) {
      return (await run({ op: 'convert', contract, payload }, 'converted', caller)).payload
    },
    async widen(contract, payload, caller) {
      return (await run({ op: 'widen', contract, payload }, 'widened', caller)).contract
    },
    async infer(samples, options, caller) {
      try {
        const reply = await thread.run({ op: 'infer', samples, options }, { caller })
        if (reply.op === 'inferred') return reply.inferred
        if (reply.op === 'refused') return reply.message
        throw new Error(reply.op === 'failed' ? reply.message : `The contract worker answered ${reply.op}`)
      } catch (error) {
        if (!isLimitFailure(error)) throw error
        return `The samples are too much: ${error.message}.`
      }
    },
    close: () => thread.close(),
  }
}

/** Only what can be sent to the thread: callers pass objects that hold more. */
const toTaskContract = ({ contract, contract_hash }: HashedContract): HashedContract => ({ contract, contract_hash })

const isLimitFailure = (error: unknown): error is ThreadFailure =>
  error instanceof ThreadFailure && (error.reason === 'time' || error.reason === 'memory')

function createLimitRead(message: string): ReadPayload {
  const violation: Violation = {
    code: 'limit_exceeded',
    pointer: '',
    keyword: 'limits',
    expected: `a payload that can be read within the limits: ${message}`,
    record_index: null,
  }
  return {
    ...{ is_unreadable: true, violations: [violation], more: 0, refused: [], notes: [], record_count: 0, facts: [] },
    provenance: { source: null, as_of: null },
  }
}
