/** All findings on a contract: the text itself, the lists it reads, and its examples with these lists. */
import { findExampleFindings, type ReadExamples } from '#contract/admit.ts'
import { hasErrors } from '#contract/check-contract.ts'
import { findShapeFindings } from '#contract/contract-shape.ts'
import { type CompiledContract, compileContract } from '#contract/judge-payload.ts'
import type { Contract } from '#contract/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { documentStore, type resolver } from '#modules/definitions/index.ts'
import { bindContract, findContractInForce, findContractLists } from './bind-contract.ts'
import { getCheckedContract } from './contract-thread.ts'

export async function validateContract(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  text: documentStore.DefinitionText,
): Promise<documentStore.Validation> {
  const checked = getCheckedContract(kernel, tx, text)
  if (hasErrors(checked.findings) || checked.examples === null) {
    return { findings: checked.findings, list_keys: [], proof: {} }
  }
  const contract = text as unknown as Contract
  const compiled = compileContract(contract)
  const lists = await findContractLists(tx, compiled)
  const found = await checkExamples(kernel, tx, { compiled, lists }, checked.examples)
  return {
    findings: [...checked.findings, ...found],
    list_keys: compiled.list_keys,
    proof: {
      lists: documentStore.toListVersions(lists),
      examples: contract.examples.length,
      counter_examples: contract.counter_examples?.length ?? 0,
    },
  }
}

async function checkExamples(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  bindable: Parameters<typeof bindContract>[2],
  read: ReadExamples,
): Promise<readonly documentStore.Finding[]> {
  const bound = await bindContract(kernel, tx, bindable, [...read.examples, ...read.counter_examples])
  return 'judge' in bound ? findExampleFindings(bindable.compiled.contract, bound, read) : bound
}

/** Lists in force that the contract reads. A draft that is not a contract yet reads none. */
export async function findContractReferences(
  tx: Tx,
  text: documentStore.DefinitionText,
): Promise<{
  readonly lists: ReadonlyMap<string, resolver.VersionPointer>
  readonly references: CompiledContract['references']
}> {
  if (findShapeFindings(text).length > 0) return { lists: new Map(), references: [] }
  const compiled = compileContract(text as unknown as Contract)
  return { lists: await findContractLists(tx, compiled), references: compiled.references }
}

/** Findings on the version in force with the lists in force now. */
export async function checkContractInForce(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  contract_key: string,
): Promise<readonly documentStore.Finding[]> {
  const loaded = await findContractInForce(kernel, tx, contract_key)
  if (!loaded) return []
  return (await validateContract(kernel, tx, loaded.contract as unknown as documentStore.DefinitionText)).findings
}
