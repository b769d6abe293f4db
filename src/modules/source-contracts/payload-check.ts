/** Checks a payload by a version or the draft of a contract; nothing is stored. */
import type { Static } from 'typebox'
import { hasErrors } from '#contract/check-contract.ts'
import { compileContract } from '#contract/judge-payload.ts'
import type { Contract } from '#contract/model.ts'
import type { ReadPayload } from '#contract/read-payload.ts'
import { isXmlMediaType } from '#contract/xml-payload.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { judgePayload } from './admissions.ts'
import { findContractLists } from './bind-contract.ts'
import { contractKind } from './contract-kind.ts'
import { contractThread, failContractThread, getCheckedContract, toHashedContract } from './contract-thread.ts'
import type { CheckReply, CheckRequest } from './schema.ts'

type Read = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

interface CheckInput {
  readonly params: { readonly contract_key: string; readonly version: string }
  readonly body: Static<typeof CheckRequest>
  readonly tenant_id: string
}

export async function checkPayload(
  kernel: Capabilities<'caches' | 'threads'>,
  read: Read,
  { params, body, tenant_id }: CheckInput,
): Promise<Static<typeof CheckReply>> {
  const bytes = toBytes(body)
  const { text, version } = await read((tx) => loadUsableText(kernel, tx, params))
  const contract = text as unknown as Contract
  const task = { payload_id: '', bytes, media_type: body.media_type ?? 'application/json' }
  const [payload] = await kernel.threads
    .get(contractThread)
    .read(toHashedContract(contract), [task], tenant_id)
    .catch(failContractThread)
  const converted = isXmlMediaType(task.media_type)
    ? await kernel.threads.get(contractThread).convert(contract, task, tenant_id).catch(failContractThread)
    : null
  return read(async (tx) => {
    const compiled = compileContract(contract)
    const lists = await findContractLists(tx, compiled)
    const received_at = body.received_at ?? new Date().toISOString()
    const judged = await judgePayload(kernel, tx, {
      contract: { compiled },
      lists,
      read: payload as ReadPayload,
      received_at,
    })
    const { result, incomplete, record_count, violations, more, notes, provenance, facts } = judged
    return {
      contract_key: params.contract_key,
      version,
      ...{ result, incomplete, record_count, more_violations: more, provenance },
      violations: [...violations],
      notes: [...notes],
      records: facts.map(({ record_index, facts: values }) => ({ record_index, facts: { ...values } })),
      lists: documentStore.toListVersions(lists),
      converted,
    }
  })
}

function toBytes({ payload, text }: CheckInput['body']): Buffer {
  if ((payload === undefined) === (text === undefined)) {
    return fail('conflict', 'Give the payload as JSON in "payload", or as text in "text".')
  }
  return Buffer.from(text ?? JSON.stringify(payload))
}

/** A draft with errors cannot be applied: 409 with its findings. */
async function loadUsableText(kernel: Capabilities<'caches' | 'threads'>, tx: Tx, params: CheckInput['params']) {
  const written = await documentStore.getVersionOrDraft(kernel, tx, contractKind, params)
  const { findings } = getCheckedContract(kernel, tx, written.text)
  if (hasErrors(findings)) documentStore.assertNoErrors(findings)
  return { text: written.text, version: written.version?.version ?? null }
}
