/**
 * Runs tenants' types in isolation: one worker thread with bounded memory and a time limit per call, replaced when either is
 * exceeded. Calls are served one after the other; the process itself never compiles a tenant's schema.
 */
import { hash } from 'node:crypto'
import { BoundedThread, ThreadFailure } from '#kernel/bounded-thread.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { ThreadAdmission } from '#kernel/thread-admission.ts'
import type { Fault } from './schema-limits.ts'
import type { TypeDefinition } from './type-definition.ts'
import type { TypeWorkerReply, TypeWorkerTask, ValidationResult } from './type-worker.ts'

export type { ValidationResult }

export interface TypeRunnerOptions {
  /** The built type-worker. */
  readonly script: URL | string
  readonly time_limit_ms?: number
  readonly heap_limit_mib?: number
  readonly admission?: ThreadAdmission
}

/** The caller, and the signal that aborts the call. */
export interface TypeCall {
  readonly caller?: string
  readonly signal?: AbortSignal | undefined
}

export interface TypeRunner {
  /** Faults of a definition; empty when it can be used. */
  check(definition: unknown, call?: TypeCall): Promise<readonly Fault[]>
  /** Throws TypeUnusable for faults of the type itself; faults of entries are part of the result. */
  validate(definition: TypeDefinition, entries: readonly unknown[], call?: TypeCall): Promise<ValidationResult>
  /** Terminates the worker and rejects waiting calls. */
  close(): Promise<void>
}

/** The type cannot be used: it is wrong, too slow or too large. */
export class TypeUnusable extends Error {
  readonly code = 'type_unusable'
  readonly reason: 'definition' | 'time' | 'memory' | 'failed'
  readonly faults: readonly Fault[]
  constructor(reason: TypeUnusable['reason'], message: string, faults: readonly Fault[] = []) {
    super(message)
    this.name = 'TypeUnusable'
    this.reason = reason
    this.faults = faults
  }
}

const TIME_LIMIT_MS = 5000
const HEAP_LIMIT_MIB = 256

export function createTypeRunner(options: TypeRunnerOptions): TypeRunner {
  const { script, time_limit_ms, heap_limit_mib, admission } = options
  const thread = new BoundedThread<TypeWorkerTask, TypeWorkerReply>({
    name: 'type worker',
    script,
    time_limit_ms: time_limit_ms ?? TIME_LIMIT_MS,
    heap_limit_mib: heap_limit_mib ?? HEAP_LIMIT_MIB,
    admission,
  })
  const hashes = new WeakMap<TypeDefinition, string>()

  const run = (task: TypeWorkerTask, call: TypeCall = {}): Promise<TypeWorkerReply> =>
    thread.run(task, call).catch((error: unknown) => {
      throw error instanceof ThreadFailure ? toTypeUnusable(error) : error
    })

  const getHash = (definition: TypeDefinition): string => {
    const known = hashes.get(definition) ?? hash('sha256', canonicalJson(definition), 'hex')
    hashes.set(definition, known)
    return known
  }

  return {
    async check(definition, call) {
      try {
        const answer = await run({ op: 'check', definition }, call)
        if (answer.op === 'checked') return answer.faults
        throw unexpectedReplyError(answer)
      } catch (error) {
        if (!(error instanceof TypeUnusable)) throw error
        return [{ code: error.code, pointer: '/schema', message: error.message }]
      }
    },
    async validate(definition, entries, call) {
      const task: TypeWorkerTask = { op: 'validate', definition_hash: getHash(definition), definition, entries }
      const answer = await run(task, call)
      if (answer.op === 'validated') return answer.result
      if (answer.op !== 'unusable') throw unexpectedReplyError(answer)
      const message = `The type cannot be used: ${answer.faults[0]?.message ?? 'its definition is wrong'}`
      throw new TypeUnusable('definition', message, answer.faults)
    },
    close: () => thread.close(),
  }
}

/** An exceeded limit or a crashed thread is a fault of the type; a missing thread is not. */
function toTypeUnusable(failure: ThreadFailure): Error {
  const { reason, message } = failure
  if (reason === 'time' || reason === 'memory') return new TypeUnusable(reason, `The type cannot be used: ${message}.`)
  return reason === 'crashed' ? new TypeUnusable('failed', `The type cannot be used: ${message}.`) : failure
}

const unexpectedReplyError = (answer: TypeWorkerReply): Error =>
  answer.op === 'failed'
    ? new TypeUnusable('failed', `The type cannot be used: ${answer.message}.`)
    : new Error(`The type worker answered ${answer.op}`)
