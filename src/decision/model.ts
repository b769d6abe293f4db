/**
 * The model of matrices and rules: definitions as people write and store them, and findings about them. Definitions refer to lists
 * by key; list versions are bound for a decision.
 */

/** A fault of a definition or of inputs with its place, for the author of the definition or the caller. */
export interface Finding {
  readonly code: string
  /** JSON Pointer into the definition, or into the inputs. */
  readonly pointer: string
  readonly message: string
  readonly severity: 'error' | 'warning'
  /** An input that shows the fault, where there is one. */
  readonly example?: Readonly<Record<string, unknown>>
}

/** `decimal` is a string in JSON ("12.50") and an integer scaled by `scale` digits in memory. */
export type InputType = 'enum' | 'integer' | 'decimal' | 'boolean' | 'date' | 'string' | 'list'

export interface Input {
  readonly name: string
  readonly title: string
  readonly type: InputType
  readonly description?: string
  readonly unit?: string
  /** Digits after the point of a decimal; 2 when absent. */
  readonly scale?: number
  /** Allowed values of an enum, or of the items of a list. */
  readonly values?: readonly string[]
  /** Allowed values are the keys of a list, or the values of one of its fields. */
  readonly one_of?: { readonly list_key: string; readonly field?: string }
  /** The fact of a source contract that it comes from, where a decision cites calls of providers. */
  readonly from?: { readonly contract_key: string; readonly fact: string }
  /** Inclusive; integers, decimals (as strings) and dates. */
  readonly minimum?: number | string
  readonly maximum?: number | string
  readonly max_items?: number
  /** Used when the input is absent, and shown in the explanation. Without it an absent input is a fault. */
  readonly default?: unknown
}

/** A policy value: from a list, or a literal when it is not policy. */
export type PolicyValue = number | string | boolean | ListValue
export interface ListValue {
  readonly list_key: string
  readonly key: string
  readonly field: string
}

export type OnMissing = 'fail' | { readonly default: PolicyValue; readonly reason: string }

export type HitPolicy = 'unique' | 'any' | 'first' | 'priority' | 'collect'
export type CollectOperator = 'sum' | 'min' | 'max' | 'count'

export interface DecisionRow {
  readonly key: string
  /** One unary test per column; `list(list_key, key).field` is a value from a list. */
  readonly when: readonly string[]
  /** One value per output. */
  readonly then: readonly PolicyValue[]
  readonly reason_code?: string
  readonly reason?: string
}

export interface DecisionTable {
  readonly hit_policy: HitPolicy
  /** With `collect`: how the single outputs of all rows that fire are combined; absent: all are returned in row order. */
  readonly collect?: CollectOperator
  /** With `priority`: the values of the first output, highest priority first. */
  readonly priorities?: readonly PolicyValue[]
  /** Names of inputs, or `factor.<key>` for the score of an earlier factor. */
  readonly columns: readonly string[]
  readonly outputs: readonly { readonly name: string; readonly title?: string }[]
  readonly rows: readonly DecisionRow[]
  /** The result when no row fires. Without it that is a fault, and publishing requires a proof that it cannot happen. */
  readonly otherwise?: { readonly then: readonly PolicyValue[]; readonly reason_code?: string; readonly reason: string }
}

interface FactorBase {
  readonly key: string
  readonly title: string
  /** Share of the total in basis points, for a weighted sum. */
  readonly weight_bps?: number | ListValue
  /** A sentence with the placeholders {input}, {value}, {score_bps}, {list_key}. */
  readonly reason?: string
  readonly reason_code?: string
}
/** The entry of `list_key` whose key is the input's value gives the score; for an input of type list, the highest one. */
export interface LookupFactor extends FactorBase {
  readonly form: 'lookup'
  readonly list_key: string
  /** Inputs that form the key, in the order of the list's key. */
  readonly inputs: readonly string[]
  readonly field: string
  readonly on_missing: OnMissing
}
/** A table whose single output is a score in basis points. */
export interface TableFactor extends FactorBase {
  readonly form: 'table'
  readonly table: DecisionTable
}
/** Whether, or how often, the input's values are keys of a list. */
export interface PresenceFactor extends FactorBase {
  readonly form: 'presence'
  readonly list_key: string
  readonly input: string
  readonly count?: boolean
  readonly present: PolicyValue
  readonly absent: PolicyValue
  /** With `count`: the maximum for all hits together. */
  readonly at_most?: PolicyValue
}
/** Each allowed value of an enum or boolean has its score. */
export interface ScoreMapFactor extends FactorBase {
  readonly form: 'score_map'
  readonly input: string
  readonly scores: Readonly<Record<string, PolicyValue>>
  readonly on_missing: OnMissing
}
/** The version in force of a plugin gives the score. The caller runs it; the engine gets its result as data. */
export interface PluginFactor extends FactorBase {
  readonly form: 'plugin'
  readonly plugin_key: string
  /** Inputs that the plugin is called with, under their own names. */
  readonly inputs: readonly string[]
  /** Scores that the plugin may give, both ends included. Proofs hold for every one of them. */
  readonly score_min_bps: number
  readonly score_max_bps: number
}
export type Factor = LookupFactor | TableFactor | PresenceFactor | ScoreMapFactor | PluginFactor

/** All conditions hold: a unary test on an input, on `factor.<key>`, or on `score`. */
export interface Trigger {
  readonly key: string
  readonly title: string
  readonly when: readonly { readonly of: string; readonly test: string }[]
  /** The outcome is at least this band. */
  readonly floor_band?: string
  readonly required_actions?: readonly string[]
  readonly reason_code: string
  readonly reason: string
}

/** Contiguous bands over 0..10000 basis points, read from a list; order is by `from_field`. */
export interface Bands {
  readonly list_key: string
  readonly band_field: string
  readonly from_field: string
  readonly to_field: string
}

export interface MatrixDefinition {
  readonly inputs: readonly Input[]
  readonly factors: readonly Factor[]
  readonly aggregation: 'weighted_sum' | 'sum' | 'max'
  readonly bands: Bands
  readonly triggers: readonly Trigger[]
}

/** A rule gives hit or no hit: it hits when a row of its table fires; `outputs` may hold a severity, for example. */
export interface RuleDefinition {
  readonly inputs: readonly Input[]
  readonly table: DecisionTable
  readonly required_actions?: readonly string[]
  readonly reason_code: string
  readonly reason: string
}

export type Definition =
  | ({ readonly family: 'matrix' } & MatrixDefinition)
  | ({ readonly family: 'rule' } & RuleDefinition)
export type DefinitionFamily = Definition['family']

/** One entry of a list with its hash. */
export interface ListEntry {
  readonly key: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly hash: string
}
/** A bound list: complete when small, otherwise only the requested keys. */
export interface BoundList {
  readonly list_key: string
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
  /** Undefined: the key is not on the list. */
  get(key: string): ListEntry | undefined
  /** Every entry in key order; null when the list is too large to load. */
  readonly all: readonly ListEntry[] | null
}
export type BoundLists = ReadonlyMap<string, BoundList>

export type Inputs = Readonly<Record<string, unknown>>

/** What a decision needs of a list: all entries, or the keys of its inputs. */
export type ListNeeds = ReadonlyMap<string, 'all' | readonly string[]>

export interface FactorOutcome {
  readonly key: string
  readonly title: string
  readonly score_bps: number
  readonly weight_bps: number | null
  /** Exact, with four decimals: score × weight ÷ 10000 for a weighted sum, the score itself otherwise. */
  readonly contribution_bps: string
  readonly reason: string
  readonly reason_code: string | null
  /** Names of inputs with their values. */
  readonly read: Readonly<Record<string, unknown>>
  /** The entry that provided the value. */
  readonly found?: readonly {
    readonly list_key: string
    readonly key: string
    readonly field: string | null
    readonly value: unknown
  }[]
  /** Keys of the rows that fired. */
  readonly rows?: readonly string[]
  readonly defaulted?: true
  /** For a factor that a plugin scores. */
  readonly plugin?: { readonly plugin_key: string; readonly values: Readonly<Record<string, unknown>> }
}
export interface TriggerOutcome {
  readonly key: string
  readonly title: string
  readonly floor_band: string | null
  readonly required_actions: readonly string[]
  readonly reason: string
  readonly reason_code: string
}
export interface MatrixOutcome {
  readonly family: 'matrix'
  readonly score_bps: number
  /** After triggers; `scored_band` is the band of the score alone. */
  readonly band: string
  readonly scored_band: string
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
}
export interface RuleOutcome {
  readonly family: 'rule'
  readonly hit: boolean
  readonly outputs: Readonly<Record<string, unknown>>
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
}
export type Outcome = MatrixOutcome | RuleOutcome
export interface Explanation {
  readonly inputs: readonly { readonly name: string; readonly value: unknown; readonly defaulted: boolean }[]
  readonly factors: readonly FactorOutcome[]
  readonly triggers: readonly TriggerOutcome[]
  /** For a rule: the rows that fired. */
  readonly rows: readonly {
    readonly key: string
    readonly reason: string | null
    readonly reason_code: string | null
  }[]
  /** The decision in sentences. */
  readonly summary: readonly string[]
}
/** A lookup and its result: the value of a field, or with `field` null whether the key is on the list. */
export interface UsedEntry {
  readonly list_key: string
  readonly key: string
  readonly field: string | null
  readonly value: unknown
  /** Hash of the entry; null when the key is not on the list. */
  readonly hash: string | null
}
/** A plugin that must be run for a decision, with its arguments. */
export interface PluginCall {
  /** Key of the factor that it scores. */
  readonly factor: string
  readonly pointer: string
  readonly plugin_key: string
  readonly inputs: Inputs
}
/** What a plugin said in one decision. */
export interface PluginResult {
  /** Within the range of the factor: the caller checks it. */
  readonly score_bps: number
  readonly reason_code: string | null
  readonly values: Readonly<Record<string, unknown>>
  /** Entries that it looked up; the hash is null for a key that is not on the list. */
  readonly read: readonly { readonly list_key: string; readonly key: string; readonly hash: string | null }[]
}
/** By the key of the factor. */
export type PluginResults = ReadonlyMap<string, PluginResult>

/** `used` holds everything read from lists, each once, in the order of use. Findings coded `input_…` point into the inputs. */
export type Decision =
  | {
      readonly ok: true
      readonly outcome: Outcome
      readonly explanation: Explanation
      readonly used: readonly UsedEntry[]
    }
  | {
      readonly ok: false
      readonly findings: readonly Finding[]
      /** Present when the decision lacks nothing but the results of these plugins. */
      readonly needs?: readonly PluginCall[]
    }

/**
 * The semantics of definitions, by number. Changed semantics are a new engine; old engines stay, so that every decision can be
 * replayed.
 */
export interface Engine {
  readonly engine: number
  /** Checks structure, names, tests and references without lists. */
  check(definition: unknown, family: DefinitionFamily): Finding[]
  /** Throws when `check` finds errors. */
  compile(definition: Definition): CompiledDefinition
}
export interface CompiledDefinition {
  readonly engine: number
  readonly definition: Definition
  /** Every list the definition may read, sorted. */
  readonly list_keys: readonly string[]
  /** The same with the places in the definition that read it. */
  readonly references: readonly {
    readonly list_key: string
    readonly pointer: string
    readonly key: string | null
    readonly field: string | null
    /** For a test that compares with it: the column, and whether the value is in the smallest unit. */
    readonly compares?: {
      readonly title: string
      readonly type: 'text' | 'boolean' | 'integer' | 'decimal' | 'date'
      readonly minor: boolean
    }
  }[]
  /** Faults of the inputs alone; empty when they are valid. `one_of` is checked with bound lists. */
  checkInputs(inputs: Inputs): Finding[]
  needs(inputs: Inputs): ListNeeds
  /** Resolves policy values and bands once per set of list versions. Faults of the lists themselves come as findings. */
  bind(lists: BoundLists): BoundDefinition | readonly Finding[]
}
export interface BoundDefinition {
  /**
   * Takes microseconds and uses no clock, randomness or I/O. `lists` replaces bound lists, for large ones whose keys differ per
   * decision. Without `plugins`, a matrix with plugin factors says which results it needs.
   */
  decide(inputs: Inputs, lists?: BoundLists, plugins?: PluginResults): Decision
}
