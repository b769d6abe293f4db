/** Warns about reason codes of a definition that are not in the list of reason codes. */
import type { Finding } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { findUnknownReasonCodes, REASON_CODE_LIST } from '#modules/reference-data/index.ts'

interface CodeUse {
  readonly code: string
  readonly pointer: string
}

/** Every `reason_code` of a definition: of triggers, factors, rows, and of a rule itself. */
export function collectReasonCodes(part: unknown, pointer = ''): CodeUse[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, value]) => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return name === 'reason_code' && typeof value === 'string'
      ? [{ code: value, pointer: at }]
      : collectReasonCodes(value, at)
  })
}

/** Warnings, not errors: the list may get the code before the definition is activated, and decisions do not read it. */
export async function findReasonCodeWarnings(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  definition: unknown,
): Promise<Finding[]> {
  const uses = collectReasonCodes(definition)
  const unknown = await findUnknownReasonCodes(
    kernel,
    tx,
    uses.map(({ code }) => code),
  )
  return uses
    .filter(({ code }) => unknown.has(code))
    .map(({ code, pointer }) => ({
      code: 'reason_code_unknown',
      pointer,
      message: `There is no reason code ${code} in the list ${REASON_CODE_LIST} in force; overrides refuse it.`,
      severity: 'warning',
    }))
}
