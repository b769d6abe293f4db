/**
 * Reports as modules declare them: what a template needs, how its data is collected, and how the data is arranged into a document. A
 * document is data: the renderers of all formats read it, and none of them queries anything.
 */
import type { TSchema } from 'typebox'
import type { Role } from './auth/roles.ts'
import type { Caches } from './cache/caches.ts'
import type { Tx } from './database/tx.ts'
import type { ValueEncryption } from './encryption/value-encryption.ts'
import type { IntegrityKeys } from './integrity/keys.ts'
import type { ModuleMetrics } from './module-metrics.ts'
import type { PluginPolicy } from './plugin-policy.ts'
import type { WorkerThreads } from './worker-threads.ts'

export type Tone = 'neutral' | 'good' | 'warning' | 'bad'
export type ValueStyle = 'code' | 'strong'

export interface ReportFact {
  readonly label: string
  readonly value: string
  readonly style?: ValueStyle
}

export interface ReportColumn {
  readonly title: string
  /** Share of the width; 0: as wide as its content. */
  readonly width: number
  readonly align?: 'left' | 'right'
  readonly style?: ValueStyle
}

export interface ReportTable {
  readonly kind: 'table'
  readonly title?: string
  readonly columns: readonly ReportColumn[]
  readonly rows: readonly (readonly string[])[]
  /** Shown where there are no rows. */
  readonly empty: string
}

export interface ChartSeries {
  readonly title: string
  /** Whole numbers, one for each label of the chart. */
  readonly values: readonly number[]
  /** The values as people read them, such as percentages; the numbers where absent. */
  readonly texts?: readonly string[]
  readonly tone?: Tone
}

export interface ReportChart {
  readonly kind: 'chart'
  readonly type: 'bar' | 'stacked' | 'line'
  readonly title: string
  readonly labels: readonly string[]
  readonly series: readonly ChartSeries[]
  /** Of a line: the place of each label on the axis, whole and ascending; a value holds until the next. Evenly spaced where absent. */
  readonly positions?: readonly number[]
  /** Of a line: the marks of the scale. */
  readonly ticks?: readonly { readonly value: number; readonly text: string }[]
  /** Of bars: more width for the labels, for those that are sentences. */
  readonly has_long_labels?: boolean
}

export type ReportBlock =
  | { readonly kind: 'text' | 'note' | 'heading'; readonly text: string }
  | { readonly kind: 'facts'; readonly items: readonly ReportFact[] }
  | { readonly kind: 'callout'; readonly tone: Tone; readonly title: string; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | ReportTable
  | ReportChart

export interface ReportSection {
  readonly title: string
  readonly blocks: readonly ReportBlock[]
}

export interface ReportDocument {
  readonly title: string
  readonly subtitle: string
  /** What the report is about as files are named after it: a number or key, never the name of a person. */
  readonly reference?: string
  /** Above the first section. */
  readonly blocks: readonly ReportBlock[]
  readonly sections: readonly ReportSection[]
}

/** Versions of a list that the content rests on. */
export interface ListVersion {
  readonly list_key: string
  readonly version: number
  readonly content_hash: string
}

/** A decision that the content rests on, with its own hash and that of the versions that it was made on. */
export interface CitedDecision {
  readonly evaluation_id: string
  /** Of the decision document, which is salted. Reports of earlier releases have none. */
  readonly document_sha256?: string
  readonly receipt_id: string
  readonly receipt_sha256: string
}

export interface CollectedReport<D> {
  /** JSON; stored, and given out as the JSON format. */
  readonly data: D
  readonly decisions: readonly CitedDecision[]
  readonly list_versions: readonly ListVersion[]
  /** Restrictions of the rows that were read, in force or not: who cannot see one of them cannot see the report. */
  readonly restrictions: readonly string[]
}

/** Formats instants and numbers for the reader of one report. */
export interface ReportFormat {
  instant(timestamp: string | null): string
  day(timestamp: string | null): string
  count(value: number): string
  /** Decimal digits, exactly, with at least `scale` decimals. */
  decimal(value: string, scale: number): string
  /** Basis points as a percentage. */
  share(bps: number | null): string
}

export interface CollectCapabilities {
  readonly caches: Caches
  readonly encryption: ValueEncryption
  readonly integrity: IntegrityKeys
  readonly metrics: ModuleMetrics
  readonly plugin_policy: PluginPolicy
  readonly threads: WorkerThreads
}

export interface ReportTemplate<P = Record<string, unknown>, D = unknown> {
  readonly key: string
  /** Increases when data or arrangement change. */
  readonly version: number
  readonly title: string
  readonly description: string
  /** Who may request it, and who may read what was made from it. */
  readonly roles: readonly Role[]
  readonly parameters: TSchema
  /** The subject whose key encrypts the report; null: the report has a key of its own. */
  readonly findSubject?: (tx: Tx, parameters: P) => Promise<string | null>
  /** Fails with `report_invalid`, `erased` or `content_corrupt`; runs when the report is requested and again when it is made. */
  readonly check?: (tx: Tx, parameters: P) => Promise<void>
  /** A restriction that the report belongs to because of what it is about, such as that of a case. */
  readonly findRestriction?: (tx: Tx, parameters: P) => Promise<string | null>
  readonly collect: (kernel: CollectCapabilities, tx: Tx, parameters: P) => Promise<CollectedReport<D>>
  readonly arrange: (data: D, format: ReportFormat) => ReportDocument
}

/** Keeps the types of parameters and data together; the engine does not look into them. */
export const declareTemplate = <P, D>(template: ReportTemplate<P, D>): ReportTemplate =>
  template as unknown as ReportTemplate
