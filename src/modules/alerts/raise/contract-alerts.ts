/** Alerts of source contracts: payloads that a contract refused, and drift from its baseline. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { loadAlertRules } from './alert-rules.ts'
import { raiseAlert } from './raise-alert.ts'

export interface ContractFinding {
  readonly on: 'contract_refusal' | 'contract_drift'
  readonly contract_key: string
  readonly contract_version: number
  /** Codes of violations, or kinds of drift with their place; without values of payloads. */
  readonly findings: readonly string[]
  /** `payload:<id>` or `drift-window:<id>`. */
  readonly reference: string
  /** Of the payload. */
  readonly restriction_id: string | null
}

const MAX_TEXT = 500
const MAX_FIELDS = 50

/** One alert for each contract, however many payloads it refuses. */
export async function raiseContractAlert(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { on, contract_key, contract_version, reference, restriction_id, ...found }: ContractFinding,
): Promise<void> {
  const findings = [...new Set(found.findings)].sort()
  const match = await loadAlertRules(kernel, tx, undefined)
  const matching = findings.flatMap((finding) => {
    const rule = match({ on, definition: contract_key, value: finding.split(' ')[0] as string })
    return rule ? [rule] : []
  })
  const [rule] = matching
  if (!rule) return
  const [kind = 'payload', ...id] = reference.split(':')
  await raiseAlert(kernel, tx, {
    source: 'contract',
    rule_code: rule.code,
    dedup_key: `${on}:${contract_key}`,
    title: rule.title,
    facts: { contract_version: String(contract_version), findings: findings.join(', ').slice(0, MAX_TEXT) },
    explanation: {
      sentence: `${rule.title}: ${contract_key}, version ${contract_version}.`,
      fields: findings.slice(0, MAX_FIELDS).map((finding) => ({
        name: 'finding',
        subject_value: null,
        matched_value: finding.slice(0, MAX_TEXT),
        agrees: null,
      })),
      references: [
        { kind, id: id.join(':'), version: null },
        { kind: 'contract', id: contract_key, version: contract_version },
      ],
    },
    priority: rule.priority,
    reference,
    restriction_id,
  })
}
