/** The last section of every report: what it rests on, and how a reader finds out whether it is genuine. */
import type { CitedDecision, ReportBlock, ReportSection } from '#kernel/report-template.ts'
import type { Manifest, Snapshot } from '../snapshot.ts'

export interface RenderInput {
  readonly snapshot: Snapshot
  readonly manifest: Manifest
}

export const formatCreated = (created_at: string): string => `${created_at.slice(0, 16).replace('T', ' ')} UTC`

const TITLE = 'How to verify this report'
/** The first renderer that states addresses and commands. */
const WITH_COMMANDS = 3
/** The first renderer that states the hash of each decision beside that of its receipt. */
const WITH_DOCUMENT_HASHES = 5

/** A report of an earlier release is made again as it was made then. */
export const describeVerification = (input: RenderInput): ReportSection =>
  input.manifest.renderer < WITH_COMMANDS ? describeEarlier(input) : describe(input)

const describeEarlier = (input: RenderInput): ReportSection => ({
  title: TITLE,
  blocks: [
    {
      kind: 'list',
      items: [
        'Compute the SHA-256 of this file as you received it, and compare it with the hash that the service states for this report and format.',
        'Have the service make the file again from the stored snapshot (Verify on the page of the report): it answers whether the bytes are identical, or names what differs.',
        'Each receipt below names a decision that can be replayed on the same versions; a certificate of it verifies offline.',
      ],
    },
    describeOrigin(input),
    listVersions(input.manifest),
    {
      kind: 'table',
      title: 'Receipts of decisions',
      columns: [{ title: 'Receipt', width: 1, style: 'code' }],
      rows: input.manifest.receipts.map((receipt) => [receipt]),
      empty: 'It rests on no decision.',
    },
  ],
})

function describe(input: RenderInput): ReportSection {
  const { snapshot, manifest } = input
  const { decisions = [] } = manifest
  const url = snapshot.service_url ?? null
  const page = `/reports/${snapshot.report_id}`
  const steps = [
    'Compute the SHA-256 of this file as you received it, for example with sha256sum. The service states the SHA-256 of each file of this report: on its page beside the file, and as “files” in the answer to command 1 below. A file cannot contain its own hash.',
    'Have the service make the files again from the stored snapshot: “Verify” on the page of the report, or command 2. The result of the job says “is_identical”, or names for each file what differs.',
  ]
  const hasDocumentHashes = manifest.renderer >= WITH_DOCUMENT_HASHES
  if (decisions.length > 0)
    steps.push(
      hasDocumentHashes
        ? 'Each decision below can be replayed on the same versions. Its certificate, a signed record, is checked without the service, with command 4: it prints the SHA-256 of the decision document and that of the receipt. Both are the ones below.'
        : 'Each decision below can be replayed on the same versions. Its certificate, a signed record, is checked without the service; the SHA-256 of the receipt in it is the one below.',
    )
  return {
    title: TITLE,
    blocks: [
      { kind: 'list', items: steps },
      {
        kind: 'facts',
        items: [
          { label: 'Service', value: url ?? 'Ask the issuer for its address; it stands for ADDRESS below.' },
          { label: 'Page of this report', value: url === null ? `${page} of the service` : `${url}${page}` },
        ],
      },
      listCommands(manifest, snapshot.report_id, url ?? 'ADDRESS'),
      {
        kind: 'note',
        text: 'TOKEN is an access token of a person with the role compliance_officer or auditor. PUBLIC_KEY is the key of the service (“public_key” of the command that names it); take it from somebody other than the sender of the file, where you can.',
      },
      describeOrigin(input),
      listVersions(manifest),
      ...(hasDocumentHashes ? listDecisions(decisions) : [listReceipts(decisions)]),
    ],
  }
}

const listReceipts = (decisions: readonly CitedDecision[]): ReportBlock => ({
  kind: 'table',
  title: 'Decisions and their receipts',
  columns: [
    { title: 'Decision', width: 1, style: 'code' },
    { title: 'Receipt', width: 1, style: 'code' },
    { title: 'SHA-256 of the receipt', width: 1, style: 'code' },
  ],
  rows: decisions.map((one) => [one.evaluation_id, one.receipt_id, one.receipt_sha256]),
  empty: 'It rests on no decision that is stored on its own.',
})

/** Ids and hashes below each other, since two do not fit on a line; called as the command calls them. Nothing where there are none. */
const listDecisions = (decisions: readonly CitedDecision[]): ReportBlock[] =>
  decisions.length === 0
    ? []
    : [
        {
          kind: 'table',
          title: 'Decisions and their receipts',
          columns: [
            { title: 'What', width: 0 },
            { title: 'Id or hash', width: 1, style: 'code' },
          ],
          rows: decisions.flatMap((one) => [
            ['Decision', one.evaluation_id],
            ['SHA-256 of the decision document', one.document_sha256 ?? '–'],
            ['Receipt', one.receipt_id],
            ['SHA-256 of the receipt', one.receipt_sha256],
          ]),
          empty: '–',
        },
        {
          kind: 'note',
          text: 'The SHA-256 of the decision document covers inputs, reasons and outcome, with a random salt: it identifies this one decision. The SHA-256 of the receipt covers the versions of matrix, rules and lists that it was made on: it identifies the policy, so decisions on the same versions have the same one.',
        },
      ]

function listCommands({ renderer, decisions = [] }: Manifest, report_id: string, address: string): ReportBlock {
  const check = renderer >= WITH_DOCUMENT_HASHES ? '4. Check it offline' : 'Check it offline'
  return {
    kind: 'table',
    title: 'Commands',
    columns: [
      { title: 'What', width: 2 },
      { title: 'Command', width: 3, style: 'code' },
    ],
    rows: [
      ['In a shell, first', `get() { curl -s -H "Authorization: Bearer $TOKEN" "${address}/api/$@"; }`],
      ['1. Hashes of the files', `get reports/${report_id}`],
      ['2. Make the files again', `get reports/${report_id}/verify -X POST`],
      ['Result of 2, whose answer has job_id', 'get jobs/JOB_ID'],
      ...(decisions.length > 0
        ? [
            ['3. Certificate of a decision', 'get evaluations/DECISION/certificate -o certificate.json'],
            [check, 'npx probity verify certificate certificate.json --key PUBLIC_KEY'],
          ]
        : []),
      ['Key of the service', 'get audit/checkpoints'],
    ],
    empty: '–',
  }
}

function describeOrigin({ snapshot, manifest }: RenderInput): ReportBlock {
  const { template, layout_sha256, engine, renderer } = manifest
  const made_with = engine ? `${engine.name} ${engine.version}, renderer ${renderer}` : `renderer ${renderer}`
  return {
    kind: 'facts',
    items: [
      { label: 'Report', value: snapshot.report_id, style: 'code' },
      { label: 'Snapshot SHA-256', value: manifest.snapshot_sha256, style: 'code' },
      { label: 'Salt', value: snapshot.salt, style: 'code' },
      { label: 'Template', value: `${template.key}, version ${template.version}` },
      { label: 'Template SHA-256', value: template.sha256, style: 'code' },
      ...(layout_sha256 === undefined
        ? []
        : [{ label: 'Layout SHA-256', value: layout_sha256, style: 'code' as const }]),
      { label: 'Made with', value: made_with },
      { label: 'Made', value: `${formatCreated(snapshot.created_at)} for ${snapshot.created_by}` },
      { label: 'Times are given in', value: snapshot.time_zone },
    ],
  }
}

const listVersions = ({ list_versions }: Manifest): ReportBlock => ({
  kind: 'table',
  title: 'List versions used',
  columns: [
    { title: 'List', width: 2 },
    { title: 'Version', width: 0, align: 'right' },
    { title: 'SHA-256 of the content', width: 4, style: 'code' },
  ],
  rows: list_versions.map(({ list_key, version, content_hash }) => [list_key, String(version), content_hash]),
  empty: 'No list was used.',
})
