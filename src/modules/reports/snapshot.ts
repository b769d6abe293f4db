/** What is stored of a report: the snapshot with data and document, and the manifest of what its files are made with. */
import { hash, randomBytes } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { CitedDecision, ListVersion, ReportDocument, ReportTemplate } from '#kernel/report-template.ts'
import type { PdfEngine } from '#kernel/typesetting/pdf-compiler.ts'
import type { Printing } from '#kernel/typesetting/printing.ts'
import type { ReportFormatName } from './model.ts'

/** Increases when the code would make other bytes of the same snapshot; layout and stylesheet have their own hash. */
export const RENDERER_VERSION = 5

export interface Snapshot {
  readonly format: 'probity-report/1'
  /** Random, and part of every file: without it nobody finds the content of a hash by trying. */
  readonly salt: string
  readonly report_id: string
  readonly template: { readonly key: string; readonly version: number; readonly title: string }
  readonly issuer: string
  readonly locale: string
  readonly time_zone: string
  readonly is_restricted: boolean
  readonly created_at: string
  readonly created_by: string
  /** Of what was requested, with the salt: the row says it too, and could be altered. Reports of earlier releases have none. */
  readonly request_sha256?: string
  /** Of who may see it, with the salt. Reports of earlier releases have none. */
  readonly readers_sha256?: string
  /** Of the manifest without the hash of the snapshot, with the salt. Reports of earlier releases have none. */
  readonly manifest_sha256?: string
  /** Where readers reach the service; null where the operator has not said it. Reports of earlier releases have none. */
  readonly service_url?: string | null
  readonly data: unknown
  readonly document: ReportDocument
}

export interface Manifest {
  /** The hash is of what the template declares; up to the third renderer it is that of layout and stylesheet. */
  readonly template: { readonly key: string; readonly version: number; readonly sha256: string }
  /** Of layout and stylesheet. Reports of earlier releases have none. */
  readonly layout_sha256?: string
  readonly renderer: number
  /** Null where no PDF was made. */
  readonly engine: PdfEngine | null
  readonly fonts: readonly { readonly file: string; readonly sha256: string }[]
  readonly locale: string
  readonly time_zone: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly receipts: readonly string[]
  /** Reports of earlier releases have none. */
  readonly decisions?: readonly CitedDecision[]
  readonly list_versions: readonly ListVersion[]
  readonly snapshot_sha256: string
  readonly created_at: string
}

export const newSalt = (): string => randomBytes(16).toString('hex')

/** The text that is stored and hashed. */
export const toSnapshotText = (snapshot: Snapshot): string =>
  canonicalJson(JSON.parse(JSON.stringify(snapshot)) as Record<string, unknown>)

export const hashText = (text: string | Buffer): string => hash('sha256', text, 'hex')

export interface RequestFacts {
  readonly template_key: string
  readonly template_version: number
  readonly subject_id: string | null
  readonly parameters: Readonly<Record<string, unknown>>
  readonly formats: readonly ReportFormatName[]
  readonly locale: string
  readonly time_zone: string
  readonly created_by: string
}

export function hashRequest(salt: string, facts: RequestFacts): string {
  const { template_key, template_version, subject_id, parameters, formats, locale, time_zone, created_by } = facts
  const request = { template_key, template_version, subject_id, parameters, formats, locale, time_zone, created_by }
  return hashText(canonicalJson(JSON.parse(JSON.stringify({ salt, ...request })) as Record<string, unknown>))
}

export interface ReaderFacts {
  readonly readers: readonly string[]
  /** Of the report, in force or not. */
  readonly own_restriction_id: string | null
  /** Restrictions of what it was made from. */
  readonly sources: readonly string[]
  readonly schedule_id: string | null
}

export function hashReaders(salt: string, facts: ReaderFacts): string {
  const { readers, own_restriction_id, sources, schedule_id } = facts
  return hashText(
    canonicalJson({ salt, readers: [...readers], own_restriction_id, sources: [...sources].sort(), schedule_id }),
  )
}

/** The snapshot has this hash, so the manifest is hashed without that of the snapshot. */
export function hashManifest(salt: string, manifest: Omit<Manifest, 'snapshot_sha256'>): string {
  const { snapshot_sha256: _, ...described } = manifest as Manifest
  return hashText(canonicalJson(JSON.parse(JSON.stringify({ salt, ...described })) as Record<string, unknown>))
}

export interface ManifestInput {
  readonly template: ReportTemplate
  readonly formats: readonly ReportFormatName[]
  readonly parameters: Readonly<Record<string, unknown>>
  readonly decisions: readonly CitedDecision[]
  readonly list_versions: readonly ListVersion[]
  readonly snapshot: Pick<Snapshot, 'locale' | 'time_zone' | 'created_at'>
}

/** Of what GET /reports/templates/KEY states, without the formats, which depend on the installation. */
export function hashTemplate({ key, version, title, description, roles, parameters }: ReportTemplate): string {
  const declared = { key, version, title, description, roles, parameters }
  return hashText(canonicalJson(JSON.parse(JSON.stringify(declared)) as Record<string, unknown>))
}

/** What the installation prints with now. */
export async function describePrinting(printing: Printing, formats: readonly ReportFormatName[]) {
  const hasPdf = formats.includes('pdf')
  return {
    layout_sha256: printing.layout_sha256,
    renderer: RENDERER_VERSION,
    engine: hasPdf ? await printing.pdf.findEngine() : null,
    fonts: hasPdf ? printing.pdf.fonts.map(({ file, sha256 }) => ({ file, sha256 })) : [],
  }
}

/** All but the hash of the snapshot, which has the hash of this. */
export async function describeReport(
  printing: Printing,
  input: ManifestInput,
): Promise<Omit<Manifest, 'snapshot_sha256'>> {
  const { template, formats, parameters, decisions, list_versions, snapshot } = input
  return {
    template: { key: template.key, version: template.version, sha256: hashTemplate(template) },
    ...(await describePrinting(printing, formats)),
    locale: snapshot.locale,
    time_zone: snapshot.time_zone,
    parameters,
    receipts: decisions.map(({ receipt_id }) => receipt_id),
    decisions,
    list_versions,
    created_at: snapshot.created_at,
  }
}
