/** The files in db/seed/demo: invented customers, subjects with stated outcomes, policy, providers, plugins and their use, of the demo tenant. */
import fs from 'node:fs'
import path from 'node:path'

export type InputValue = string | number | boolean | readonly string[]
export type SubjectInputs = Readonly<Record<string, InputValue>>
export type SubjectType = 'person' | 'company'

/** Customers with a common profile. */
export interface CustomerGroup {
  readonly key: string
  readonly subject_type: SubjectType
  readonly segment: string
  readonly count: number
  /** Values to choose from, by input. */
  readonly inputs: Readonly<Record<string, readonly InputValue[]>>
  readonly same_nationality?: boolean
  /** Business is done in the country of incorporation only. */
  readonly home_business?: boolean
  /** An input is missing on purpose, so that nothing can be decided. */
  readonly unrated?: boolean
  /** What was known of every nth customer at ratings before the latest. */
  readonly before?: { readonly every: number; readonly inputs: SubjectInputs }
}

export interface PortfolioFile {
  readonly seed: number
  readonly given_names: readonly string[]
  readonly family_names: readonly string[]
  readonly company_names: readonly string[]
  readonly groups: readonly CustomerGroup[]
  readonly legal_forms: Readonly<Record<string, string>>
  readonly legal_form_words: Readonly<Record<string, string>>
  readonly industry_words: Readonly<Record<string, string>>
}

interface PlannedOverride {
  readonly band: string
  readonly reason: string
  readonly reason_code: string
  readonly expires_in_days: number
}

export interface MagicFile {
  readonly subjects: readonly {
    readonly external_id: string
    readonly subject_type: SubjectType
    readonly name: string
    readonly attributes: SubjectInputs
    readonly unrated?: boolean
    readonly override?: PlannedOverride
  }[]
}

export interface DemoListVersion {
  readonly label: string
  readonly note: string
  readonly reason: string
  /** Absent: published, but never put in force. */
  readonly in_force_days_ago?: number
  /** Waits for approval. */
  readonly proposed?: boolean
  /** Put in force by an approved change request; the note of the approver. */
  readonly approved?: string
  readonly entries?: readonly Record<string, unknown>[]
  readonly parties?: { readonly from: number; readonly to: number; readonly changed?: readonly number[] }
}

export interface DemoList {
  readonly list_key: string
  readonly type_key: string
  readonly title: string
  readonly description: string
  readonly owner: string
  readonly review_every_days: number
  readonly stale_after_days: number
  /** How the invented parties of a watch list are written. */
  readonly parties?: { readonly kinds: readonly string[]; readonly programme: string; readonly listed_on: string }
  readonly versions: readonly DemoListVersion[]
}

interface DraftSource {
  readonly from: string
  readonly title: string
  readonly description: string
  readonly owner: string
}

export interface PolicyFile {
  readonly lists: readonly DemoList[]
  readonly overlay: {
    readonly list_key: string
    readonly reason: string
    readonly entries: readonly { readonly key: string; readonly op: string; readonly value: Record<string, unknown> }[]
  }
  readonly approval_rules: readonly Record<string, unknown>[]
  readonly overrides: readonly (PlannedOverride & {
    readonly group: string
    readonly nth: number
    readonly by: 'analyst' | 'compliance_officer'
    readonly ended?: { readonly reason: string; readonly reason_code: string }
  })[]
  readonly drafts: {
    readonly matrix: DraftSource & { readonly matrix_key: string }
    readonly rule: DraftSource & { readonly rule_key: string }
  }
  readonly schedule: Record<string, unknown>
}

/** A versioned definition: every version was in force, the last one still is. */
export interface DemoDefinition {
  readonly title: string
  readonly description: string
  readonly owner: string
  readonly versions: readonly {
    readonly label: string
    readonly note: string
    readonly reason: string
    readonly definition: unknown
  }[]
}

export interface DemoProvider extends DemoDefinition {
  readonly provider_key: string
  /** Absent: called live. */
  readonly mode?: { readonly mode: 'recorded'; readonly reason: string }
  readonly credential?: {
    readonly label: string
    readonly members: Readonly<Record<string, string>>
    readonly reason: string
  }
}

export interface ProviderSubject {
  readonly external_id: string
  readonly name: string
  readonly attributes: SubjectInputs
  /** Absent: no provider has been called for it. */
  readonly capability?: string
  /** A decision cites the answer. */
  readonly decided?: boolean
}

type SingleVersion = Omit<DemoDefinition, 'versions'> & { readonly note: string; readonly reason: string }

export interface ProvidersFile {
  readonly contracts: readonly (DemoDefinition & { readonly contract_key: string })[]
  /** The first one is asked. */
  readonly providers: readonly DemoProvider[]
  readonly matrix: SingleVersion & {
    readonly matrix_key: string
    /** The shared matrix it is made from. */
    readonly from: string
    /** By input. */
    readonly facts: Readonly<Record<string, { readonly contract_key: string; readonly fact: string }>>
  }
  readonly rule: SingleVersion & { readonly rule_key: string; readonly definition: unknown }
  readonly subjects: readonly ProviderSubject[]
}

export interface PluginsFile {
  readonly plugins: readonly {
    readonly plugin_key: string
    /** Why it was put in force. */
    readonly reason: string
    readonly package: unknown
  }[]
}

export interface DemoAlert {
  readonly source: string
  readonly dedup_key: string
  readonly title: string
  readonly priority: string
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** What it was matched with, as the API takes it. */
  readonly explanation?: object
  /** Of the subject; absent: it is about none. */
  readonly external_id?: string
  /** Reported so many times more. */
  readonly repeated?: number
  readonly snoozed_days?: number
  /** The analyst has proposed to dismiss it, which waits for a second person. */
  readonly proposed?: { readonly reason_code: string; readonly note: string }
}

export interface DemoDocument {
  readonly file_name: string
  readonly content: string
  readonly title: string
  readonly category: string
}

export interface WorkFile {
  readonly alerts: readonly DemoAlert[]
  readonly document: DemoDocument & {
    readonly external_id: string
    readonly evidence_title: string
    readonly hold_reason: string
    readonly authority_reference: string
  }
  readonly restriction: { readonly purpose: string; readonly alert: DemoAlert }
  readonly erasure: {
    readonly external_id: string
    readonly subject_type: string
    readonly name: string
    readonly reason: string
  }
}

export interface DemoCase {
  /** Of a customer that exists. */
  readonly external_id: string
  readonly playbook_key: string
  readonly title: string
  /** Added to the record of the customer first. */
  readonly attributes?: SubjectInputs
  readonly alert: Omit<DemoAlert, 'external_id'>
  readonly escalation_note: string
  /** Added to those of the playbook. */
  readonly step?: { readonly step_key: string }
  /** Results of the tasks that are done, by the key of their step. */
  readonly tasks: Readonly<Record<string, string>>
  readonly documents: readonly DemoDocument[]
  readonly references: readonly {
    readonly title: string
    readonly reference: string
    readonly source: string
    readonly obtained_days_ago: number
  }[]
  readonly request?: { readonly addressee: string; readonly question: string; readonly due_in_days: number }
  readonly notes?: readonly string[]
  /** Cites evidence by its title. */
  readonly narrative?: readonly { readonly kind: string; readonly text: string; readonly cites: readonly string[] }[]
  /** Absent: the case stays open. */
  readonly outcome?: { readonly code: string; readonly proposal_note: string; readonly closing_note: string }
}

export interface CasesFile {
  readonly cases: readonly DemoCase[]
}

export interface DemoToolCall {
  readonly by: 'analyst' | 'policy_editor'
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** The code of the problem that it answers; absent: it succeeds. */
  readonly problem?: string
}

export interface ExtensionsFile {
  readonly matrix: SingleVersion & { readonly matrix_key: string; readonly definition: unknown }
  readonly decisions: readonly { readonly by: 'analyst' | 'service'; readonly inputs: SubjectInputs }[]
  readonly list: Omit<DemoList, 'parties' | 'versions'>
  readonly import: {
    readonly file_name: string
    readonly adapter_key: string
    readonly label: string
    readonly note: string
    /** Lines of the file. */
    readonly rows: readonly string[]
  }
  readonly tool_policy: object
  readonly tool_calls: readonly DemoToolCall[]
  readonly tool_server: object
}

export interface DemoFiles {
  readonly portfolio: PortfolioFile
  readonly magic: MagicFile
  readonly policy: PolicyFile
  readonly providers: ProvidersFile
  readonly plugins: PluginsFile
  readonly work: WorkFile
  readonly cases: CasesFile
  readonly extensions: ExtensionsFile
}

export function readDemoFiles(project_root: string): DemoFiles {
  const read = <T>(name: string): T =>
    JSON.parse(fs.readFileSync(path.join(project_root, 'db/seed/demo', name), 'utf8')) as T
  return {
    portfolio: read<PortfolioFile>('portfolio.json'),
    magic: read<MagicFile>('magic.json'),
    policy: read<PolicyFile>('policy.json'),
    providers: read<ProvidersFile>('providers.json'),
    plugins: read<PluginsFile>('plugins.json'),
    work: read<WorkFile>('work.json'),
    cases: read<CasesFile>('cases.json'),
    extensions: read<ExtensionsFile>('extensions.json'),
  }
}
