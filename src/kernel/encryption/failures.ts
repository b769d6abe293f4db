/** What can be wrong with an encrypted value or its key, as the problems that a client sees. No message holds a value or a key. */
import { Problem } from '../problem.ts'

/** The text was altered, belongs elsewhere, or was encrypted with a key that is not available. */
export class DecryptionFailed extends Problem {
  readonly reason: string
  constructor(reason: string) {
    super('content_corrupt', 'A stored value cannot be decrypted. Quote request_id to the operator.')
    this.name = 'DecryptionFailed'
    this.message = `The encrypted value cannot be decrypted: ${reason}`
    this.reason = reason
  }
}

/** The value may be intact: a master key that is configured decrypts it. */
export class MasterKeyMissing extends DecryptionFailed {
  readonly key_id: string
  constructor(key_id: string) {
    super('its master key is not in the keyring')
    this.name = 'MasterKeyMissing'
    this.key_id = key_id
  }
}

/** The operator's key command did not answer, or answered with an error or with another key. */
export class KeyCommandFailed extends Problem {
  /** One word, for metrics and logs. */
  readonly outcome: KeyCommandOutcome
  constructor(outcome: KeyCommandOutcome, reason: string) {
    super('dependency_unavailable', {
      detail: 'The key of this tenant cannot be unwrapped at the moment. Nothing was changed.',
      retry_after_s: 5,
    })
    this.name = 'KeyCommandFailed'
    this.message = `The key command ${reason}`
    this.outcome = outcome
  }
}

export const keyCommandOutcomes = ['ok', 'timeout', 'not_started', 'exit_code', 'bad_answer', 'wrong_key'] as const
export type KeyCommandOutcome = (typeof keyCommandOutcomes)[number]

/** The owner's key was destroyed on purpose: nothing of this owner can be decrypted or encrypted any more. */
export class OwnerKeyDestroyed extends Problem {
  /** `members`: what is kept of the content, such as its hash. */
  constructor(members: Readonly<Record<string, unknown>> = {}) {
    super('erased', {
      detail: 'The content of this record was erased: it cannot be read, and none can be added.',
      members,
    })
    this.name = 'OwnerKeyDestroyed'
    this.message = 'The key of this owner was destroyed'
  }
}
