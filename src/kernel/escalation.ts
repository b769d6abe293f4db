/** What becomes of an alert that needs an investigation: declared by the module that investigates, which is below the one of alerts. */
import type { Caches } from './cache/caches.ts'
import type { Tx } from './database/tx.ts'
import type { ValueEncryption } from './encryption/value-encryption.ts'
import type { JobQueue } from './job/queue.ts'

export interface EscalatedAlert {
  readonly alert_id: string
  readonly title: string
  readonly subject_id: string | null
  /** The entry of the list `alert-rules` that raised it. */
  readonly rule_code: string | null
  readonly priority: 'low' | 'medium' | 'high' | 'critical'
  readonly restriction_id: string
  readonly is_in_force: boolean
}

export interface EscalationKernel {
  readonly caches: Caches
  readonly encryption: ValueEncryption
  readonly jobs: JobQueue
}

/**
 * Opens or joins a case in the transaction of the escalation. Null where nothing says how such an alert is investigated; `playbook_key`
 * says it, and is refused where it cannot be followed.
 */
export type Escalate = (
  kernel: EscalationKernel,
  tx: Tx,
  alert: EscalatedAlert,
  request: {
    readonly playbook_key: string | null
    readonly origin: 'alert' | 'trigger'
    /** Why it needs an investigation; null where no person says so. */
    readonly note: string | null
  },
) => Promise<{ readonly investigation_id: string; readonly joined: boolean } | null>
