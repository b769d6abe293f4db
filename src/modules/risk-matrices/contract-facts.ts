/** Inputs that come from facts of source contracts: which they are, and whether the contracts in force have them. */
import type { Finding, Input } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { findContractFacts } from '#modules/source-contracts/index.ts'

export interface FactRead {
  readonly contract_key: string
  readonly fact: string
  readonly input: string
}

const listInputs = (text: documentStore.DefinitionText): readonly Input[] =>
  Array.isArray(text['inputs']) ? (text['inputs'] as readonly Input[]) : []

/** Of a definition that has passed its check. */
export const listFactReads = (text: documentStore.DefinitionText): FactRead[] =>
  listInputs(text).flatMap(({ name, from }) => (from ? [{ ...from, input: name }] : []))

const DEFAULT_SCALE = 2

const isSameForm = (input: Input, fact: Pick<Input, 'type' | 'scale'>): boolean =>
  input.type === fact.type &&
  (input.type !== 'decimal' || (input.scale ?? DEFAULT_SCALE) === (fact.scale ?? DEFAULT_SCALE))

/** A decision could never use a fact that the contract does not declare, or that has another type. */
export async function findFactFindings(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  text: documentStore.DefinitionText,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [index, input] of listInputs(text).entries()) {
    if (!input.from) continue
    const { contract_key, fact: name } = input.from
    const pointer = `/inputs/${index}/from`
    const report = (code: string, member: string, message: string): void => {
      findings.push({ code, pointer: `${pointer}/${member}`, message, severity: 'error' })
    }
    const facts = await findContractFacts(kernel, tx, contract_key)
    const fact = facts?.find((each) => each.name === name)
    if (!facts)
      report('contract_not_in_force', 'contract_key', `No version of the source contract ${contract_key} is in force.`)
    else if (!fact) report('fact_unknown', 'fact', `The source contract ${contract_key} has no fact ${name}.`)
    else if (!isSameForm(input, fact)) {
      report('fact_type_differs', 'fact', `The fact ${name} is of type ${fact.type}, the input of type ${input.type}.`)
    }
  }
  return findings
}
