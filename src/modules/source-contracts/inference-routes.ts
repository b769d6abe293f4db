/** Routes that propose a contract: from sample payloads, and from a document of the Open Data Contract Standard. */
import type { Static } from 'typebox'
import type { CheckedInference } from '#contract/contract-runner.ts'
import { describeViolation } from '#contract/describe-violation.ts'
import type { InferenceOptions } from '#contract/infer-contract.ts'
import type { Contract } from '#contract/model.ts'
import { fromOdcs, toOdcs } from '#contract/odcs.ts'
import type { InferenceList } from '#contract/value-profile.ts'
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { closed, Id, integer, listOf, Type, text } from '#kernel/schema.ts'
import { datasetStore, documentStore, registrySchemas, resolver } from '#modules/definitions/index.ts'
import { readUpload } from '#modules/system/index.ts'
import { contractKind } from './contract-kind.ts'
import { contractThread, failContractThread } from './contract-thread.ts'
import { openPayload } from './payloads.ts'
import { findStoredPayloads, listRecentPayloads } from './queries.ts'
import { ContractKey, VersionParams } from './schema.ts'
import { validateContract } from './validate-contract.ts'

/** Samples beyond this size are cut off by the caller, not by us. */
const MAX_FILE_BYTES = 8 * 1024 * 1024
const MAX_RECENT = 200
/** Lists whose keys are proposed as allowed values where all samples have them. */
const PROPOSED_LISTS = ['countries', 'currencies']

const InferRequest = closed({
  payloads: Type.Optional(
    listOf(registrySchemas.AnyJson('One payload.'), 1000, { minItems: 1, description: 'Sample payloads.' }),
  ),
  upload_id: Type.Optional(
    Id({ description: 'A stored file of at most 8 MiB: one payload, or a payload on each line.' }),
  ),
  recent: Type.Optional(
    closed(
      { contract_key: ContractKey, payloads: Type.Optional(integer(1, MAX_RECENT, { default: MAX_RECENT })) },
      { description: 'The newest stored payloads of a contract.' },
    ),
  ),
  media_type: Type.Optional(text(200, { default: 'application/json' })),
  records_at: Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^(?:/(?:[^~/\\u0000]|~[01])*)*$',
      description:
        'JSON Pointer to the records. When absent, the list of objects that every sample has beside nothing but members that describe ' +
        'the answer, such as meta or total; without one each sample is a record. `/*` first: in each page of an answer.',
    }),
  ),
})

const Draft = Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The draft of a contract.' })
const InferReply = closed(
  {
    definition: Draft,
    records: Type.Integer({ minimum: 0, description: 'Records that the draft was made from.' }),
    records_at: Type.String({
      maxLength: 600,
      description: 'Where the records were found; empty: each sample is one record, or a list of them.',
    }),
    samples: Type.Integer({ minimum: 0 }),
    samples_without_records: Type.Integer({ minimum: 0, description: 'Samples that gave no record.' }),
    open_objects: listOf(Type.String(), 1000, {
      description: 'Objects with so many member names that these are taken as data.',
    }),
    findings: documentStore.Findings,
  },
  { title: 'InferredContract' },
)

const OdcsDocument = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'A data contract of the Open Data Contract Standard 3.1, as JSON.',
})
const ConvertReply = closed(
  {
    definition: Draft,
    unmapped: listOf(closed({ pointer: Type.String(), reason: Type.String() }), 500, {
      description: 'Parts of the document that a source contract has no place for.',
    }),
    findings: documentStore.Findings,
  },
  { title: 'ConvertedContract' },
)

type Read = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export const inferenceRoutes: readonly Route[] = [
  tenantRoute('POST /source-contracts/infer', {
    id: 'inferSourceContract',
    summary: 'Propose a contract from sample payloads; nothing is stored',
    description:
      'Finds the records, types, required members, formats, enumerations and lists, and guesses which members are personal. The ' +
      'same payloads in any order give the same draft. Give exactly one of payloads, upload_id and recent.',
    roles: ['policy_editor'],
    tx: 'self',
    uses: ['caches', 'threads', 'encryption'],
    body: InferRequest,
    reply: [200, InferReply],
    stores_nothing: true,
    problems: ['not_found', 'conflict', 'source_invalid', 'upload_incomplete', 'content_corrupt'],
  }).handle(async ({ body, kernel, read, actor }) => {
    const given = [body.payloads, body.upload_id, body.recent].filter((source) => source !== undefined)
    // The schema cannot say it, so that the request is well-formed.
    if (given.length !== 1) fail('source_invalid', 'Give exactly one of payloads, upload_id and recent.')
    const samples = await readSamples(kernel, read, body)
    const lists = await read((tx) => findProposedLists(kernel, tx))
    const options: InferenceOptions = { lists, ...(body.records_at !== undefined && { records_at: body.records_at }) }
    const inferred = await kernel.threads
      .get(contractThread)
      .infer(samples, options, actor.tenant_id)
      .catch(failContractThread)
    if (typeof inferred === 'string') return fail('source_invalid', inferred)
    const definition = inferred.contract as unknown as documentStore.DefinitionText
    const { findings } = await read((tx) => validateContract(kernel, tx, definition))
    return {
      definition,
      records: inferred.records,
      records_at: inferred.contract.records_at,
      samples: inferred.samples,
      samples_without_records: inferred.samples_without_records,
      open_objects: [...inferred.open_objects],
      findings: [...findings, ...findSampleFindings(inferred)],
    }
  }),

  tenantRoute('POST /source-contracts/convert-odcs', {
    id: 'convertOdcsContract',
    summary: 'Turn a data contract of ODCS 3.1 into a draft; nothing is stored',
    description: 'What maps is taken over, and what does not is listed with its place.',
    roles: ['policy_editor'],
    tx: 'read',
    uses: ['caches', 'threads'],
    body: closed({ document: OdcsDocument }),
    reply: [200, ConvertReply],
    stores_nothing: true,
  }).handle(async ({ tx, body, kernel }) => {
    const { contract, unmapped } = fromOdcs(body.document)
    const { findings } = await validateContract(kernel, tx, contract)
    return { definition: contract, unmapped: [...unmapped], findings }
  }),

  tenantRoute('GET /source-contracts/:contract_key/versions/:version/odcs', {
    id: 'getSourceContractOdcs',
    summary: 'A version as a data contract of ODCS 3.1',
    description: 'What the standard has no place for are custom properties, so that the document can be read again.',
    roles: everyone,
    tx: 'read',
    uses: ['caches'],
    params: VersionParams,
    query: registrySchemas.OriginQuery,
    reply: [200, OdcsDocument],
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel }) => {
    const written = await documentStore.getVersionOrDraft(kernel, tx, contractKind, { ...params, ...query })
    if (!written.version) return fail('transition_not_allowed', 'Publish the draft first.')
    return toOdcs(written.text as unknown as Contract, {
      id: written.dataset.list_key,
      name: written.dataset.title,
      version: String(written.version.version),
      status: written.version.state === 'published' ? 'active' : 'deprecated',
    })
  }),
]

/** Further samples that are refused are counted. */
const MAX_SAMPLE_FINDINGS = 20

/** Warnings: an answer among the samples that reports a fault is refused rightly. */
function findSampleFindings({ refused_samples }: CheckedInference): documentStore.Finding[] {
  const warn = (pointer: string, message: string): documentStore.Finding => ({
    ...{ code: 'sample_refused', pointer, message, severity: 'warning' },
  })
  const listed = refused_samples.slice(0, MAX_SAMPLE_FINDINGS).map(({ sample, violation }) => {
    const message = `The draft refuses sample ${sample} at "${violation.pointer}". ${describeViolation(violation)}`
    return warn(violation.record_index === null ? '/records_at' : '/record', message)
  })
  const more = refused_samples.length - listed.length
  return more > 0 ? [...listed, warn('', `The draft refuses ${more} more samples.`)] : listed
}

async function readSamples(
  kernel: Capabilities<'encryption'>,
  read: Read,
  { payloads, upload_id, recent, media_type = 'application/json' }: Static<typeof InferRequest>,
) {
  if (payloads) {
    const toTask = (payload: unknown) => ({
      payload_id: '',
      bytes: Buffer.from(JSON.stringify(payload)),
      media_type: 'application/json',
    })
    return { payloads: payloads.map(toTask) }
  }
  if (upload_id !== undefined) return { file: await readFile(read, upload_id), media_type }
  const { contract_key, payloads: count = MAX_RECENT } = recent as NonNullable<typeof recent>
  const stored = await read(async (tx) => {
    assertReferenced(await datasetStore.findDataset(tx, contract_key, contractKind.family), `contract ${contract_key}`)
    const newest = await listRecentPayloads(tx, contract_key, count)
    const rows = await findStoredPayloads(
      tx,
      newest.map(({ payload_id }) => payload_id),
    )
    const opened = []
    for (const row of rows) opened.push(await openPayload(kernel, tx, row))
    return opened.filter((payload) => payload !== null)
  })
  return { payloads: stored }
}

async function readFile(read: Read, upload_id: string): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of readUpload(read, upload_id)) {
    size += piece.byteLength
    if (size > MAX_FILE_BYTES) fail('source_invalid', `The file has more than ${MAX_FILE_BYTES} bytes.`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function findProposedLists(kernel: Capabilities<'caches'>, tx: Tx): Promise<InferenceList[]> {
  const lists: InferenceList[] = []
  for (const [list_key, pointer] of await resolver.findPointersInForce(tx, PROPOSED_LISTS, {})) {
    const content = await resolver.loadList(kernel, tx, pointer)
    if (content) lists.push({ list_key, keys: new Set(content.entries.keys()) })
  }
  return lists
}
