/** The explanation of a decision: triggers, factor scores with their lists, matching rows, summary and inputs. */
import './decision.css'
import { Alert, Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { toSentence, toWords } from '../format.ts'
import { Icon } from '../icons.tsx'
import { getOrigin } from '../origin.ts'
import { PlainTable } from '../plain-table.tsx'
import { formatPoints, MAX_POINTS } from '../points.ts'
import { datasetsQuery } from '../registry-queries.ts'
import { SearchLink } from '../search-link.tsx'
import { Section } from '../section.tsx'
import { formatEntryValue, getEntryName } from '../type-texts.ts'
import { formatFieldName, formatPercent } from './definition-model.ts'
import { listContentQuery } from './list-entries.ts'
import { BandMark, type Outcome } from './outcome.tsx'
import { ReasonCodes } from './reason-codes.tsx'
import { type EntryNames, formatReason } from './reason-text.ts'

export type Explanation = Schemas['EvaluationExplanation']
type Factor = Schemas['FactorExplanation']

/** The version of a list that a decision used. */
export interface ListVersion {
  readonly list_key: string
  readonly version: number
  /** tenant-own, tenant-pin or shared. */
  readonly via: string
  readonly overlay_version?: number | null
}

interface ExplanationViewProps {
  readonly outcome: Outcome
  readonly explanation: Explanation
  readonly lists: readonly ListVersion[]
}

export function ExplanationView({ outcome, explanation, lists }: ExplanationViewProps) {
  const { factors, triggers, rows, summary } = explanation
  const names = useEntryNames(factors, lists)
  const titles = useListTitles()
  return (
    <Stack gap="md">
      {triggers.length > 0 && (
        <Section title="Triggers that fired">
          <Stack gap="xs">
            {triggers.map((trigger) => (
              <Alert key={trigger.key} color="orange" icon={<Icon name="warning" />} title={trigger.title}>
                <Text size="sm">{formatReason(trigger.reason, names, titles)}</Text>
                <Group gap="xs" mt={4}>
                  {trigger.floor_band !== null && (
                    <Text size="sm" component="span">
                      at least <BandMark band={trigger.floor_band} />,{' '}
                      {outcome.band !== outcome.scored_band && outcome.band === trigger.floor_band
                        ? 'which raised the band'
                        : 'which the band was already'}
                    </Text>
                  )}
                  {trigger.floor_band === null && (
                    <Text size="sm" component="span" c="dimmed">
                      does not change the band
                    </Text>
                  )}
                  {trigger.required_actions.map((action) => (
                    <Badge key={action} variant="default" tt="none" fw={500}>
                      {toWords(action)}
                    </Badge>
                  ))}
                  <Text size="xs" c="dimmed">
                    <ReasonCodes of={[trigger.reason_code]} />
                  </Text>
                </Group>
              </Alert>
            ))}
          </Stack>
        </Section>
      )}
      {factors.length > 0 && (
        <Section title="Score by factor">
          <Contributions factors={factors} outcome={outcome} lists={lists} names={names} />
        </Section>
      )}
      {outcome.family === 'rule' && <FiredRows rows={rows} />}
      {/* The factors above say the same. */}
      <Section title="Summary">
        {factors.length > 0 ? (
          <details>
            <summary>All sentences of the explanation, as recorded</summary>
            <Sentences of={summary} />
          </details>
        ) : (
          <Sentences of={summary.map((text) => formatReason(text, names, titles))} />
        )}
      </Section>
      <DecisionInputs inputs={explanation.inputs} names={names} />
    </Stack>
  )
}

function Sentences({ of }: { readonly of: readonly string[] }) {
  return (
    <Stack gap={4}>
      {of.map((text, place) => (
        <Text key={place} size="sm">
          {text}
        </Text>
      ))}
    </Stack>
  )
}

/** Names of the entries that gave a score, from the versions that the decision used. */
export function useEntryNames(factors: readonly Factor[], lists: readonly ListVersion[]): EntryNames {
  const found = factors.flatMap((factor) => (factor.found ?? []).filter(({ field }) => field !== null))
  const list_keys = [...new Set(found.map(({ list_key }) => list_key))]
  const contents = useQueries({
    queries: list_keys.map((list_key) => {
      const used = lists.find((list) => list.list_key === list_key)
      const pinned = used && {
        list_key,
        version: used.version,
        origin: getOrigin(used.via),
        overlay_version: used.overlay_version ?? null,
      }
      return listContentQuery(list_key, pinned)
    }),
  })
  const names = new Map<string, string>()
  for (const [place, list_key] of list_keys.entries()) {
    const keys = new Set(found.filter((one) => one.list_key === list_key).map(({ key }) => key))
    for (const { key, entry } of contents[place]?.data?.entries ?? []) {
      const name = keys.has(key) ? getEntryName(entry) : null
      if (name !== null) names.set(key, name)
    }
  }
  return names
}

/** Titles of lists by key; the sentences of a decision name lists by their keys. */
function useListTitles(): ReadonlyMap<string, string> {
  const { data = [] } = useQuery({ ...datasetsQuery, staleTime: 300_000, throwOnError: false })
  return new Map(data.map(({ list_key, title }) => [list_key, title]))
}

/** A code that the decision looked up in a list is shown with the name of its entry. */
const formatInput = (value: unknown, names: EntryNames): string =>
  (Array.isArray(value) ? value : [value])
    .map((one) => {
      const name = typeof one === 'string' ? names.get(one) : undefined
      return name === undefined ? formatEntryValue(one) : `${name} (${one})`
    })
    .join(', ') || formatEntryValue(value)

/** The inputs a decision used, with the defaults it filled in. */
export function DecisionInputs({ inputs, names }: Pick<Explanation, 'inputs'> & { readonly names: EntryNames }) {
  return (
    <Section title="Inputs">
      <PlainTable
        label="Inputs of the decision"
        empty={{ title: 'No inputs', about: 'The decision used no input: its result is the same for every subject.' }}
        head={[{ name: 'Input' }, { name: 'Value' }]}
      >
        {inputs.map(({ name, value, defaulted }) => (
          <Table.Tr key={name}>
            <Table.Td title={name}>{toSentence(name)}</Table.Td>
            <Table.Td>
              {formatInput(value, names)} {defaulted && <span className="quiet">default, not provided</span>}
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}

function FiredRows({ rows }: { readonly rows: Explanation['rows'] }) {
  return (
    <Section title="Matching rows">
      {rows.length === 0 ? (
        <Text size="sm">No row matched.</Text>
      ) : (
        <ul className="rows">
          {rows.map(({ key, reason, reason_code }) => (
            <li key={key}>
              <Badge variant="default" tt="none">
                {key}
              </Badge>
              <Text size="sm" flex={1}>
                {reason}
              </Text>
              {reason_code !== null && (
                <span className="quiet">
                  <ReasonCodes of={[reason_code]} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function ContributionBar({ width, fill }: { readonly width: number; readonly fill: number }) {
  return (
    <div className="bar-track" style={{ width: `${width}%` }} aria-hidden="true">
      <div className="bar-fill" style={{ width: `${Math.min(100, fill)}%` }} />
    </div>
  )
}

interface ContributionsProps {
  readonly factors: readonly Factor[]
  readonly outcome: Outcome
  readonly lists: readonly ListVersion[]
  readonly names: EntryNames
}

/**
 * All tracks are on one scale: the length of a track is the weight of its factor, and the filled part is what the factor contributed.
 * Without weights every track is the whole scale.
 */
function getTrack({ weight_bps, contribution_bps }: Factor, heaviest_bps: number | null) {
  if (heaviest_bps === null || !weight_bps) return { width: 100, fill: (100 * Number(contribution_bps)) / MAX_POINTS }
  return { width: (100 * weight_bps) / heaviest_bps, fill: (100 * Number(contribution_bps)) / weight_bps }
}

/** One bar per factor with the numbers beside it. */
function Contributions({ factors, outcome, lists, names }: ContributionsProps) {
  const titles = useListTitles()
  const isWeighted = factors.length > 0 && factors.every(({ weight_bps }) => Boolean(weight_bps))
  const heaviest_bps = isWeighted ? Math.max(...factors.map(({ weight_bps }) => weight_bps ?? 0)) : null
  return (
    <ul className="factors plain-list" aria-label="Factors and what each contributed">
      {factors.map((factor) => (
        <li key={factor.key} className="factor">
          <div className="factor-head">
            <b>{factor.title}</b>
            <span className="number">
              <b>+{formatPoints(Number(factor.contribution_bps))}</b>{' '}
              <span className="quiet">
                score {formatPoints(factor.score_bps)}
                {factor.weight_bps !== null && ` × weight ${formatPercent(factor.weight_bps)}`}
              </span>
            </span>
          </div>
          <ContributionBar {...getTrack(factor, heaviest_bps)} />
          <Text size="sm">{formatReason(factor.reason, names, titles)}</Text>
          <FactorSources factor={factor} lists={lists} names={names} />
        </li>
      ))}
      {outcome.score_bps !== null && (
        <li className="factor-total">
          {' '}
          Total <b className="number">{formatPoints(outcome.score_bps)}</b> of 10,000
          {outcome.scored_band !== null && (
            <>
              , by score <BandMark band={outcome.scored_band} />
            </>
          )}
          {outcome.band !== outcome.scored_band && (
            <>
              , by triggers <BandMark band={outcome.band} />
            </>
          )}
        </li>
      )}
    </ul>
  )
}

interface FactorSourcesProps {
  readonly factor: Factor
  readonly lists: readonly ListVersion[]
  readonly names: EntryNames
}

/** The list values of a factor, its matching rows, and whether a default was used. */
function FactorSources({ factor, lists, names }: FactorSourcesProps) {
  const found = factor.found ?? []
  if (found.length === 0 && (factor.rows ?? []).length === 0 && !factor.defaulted) return null
  return (
    <Text size="xs" c="dimmed" component="div">
      {found.map(({ list_key, key, field, value }) => (
        <div key={`${list_key} ${key} ${field}`}>
          <ListLink list_key={list_key} lists={lists} />, entry <span className="mono">{key}</span>
          {names.has(key) && ` (${names.get(key)})`}:{' '}
          {field === null
            ? value
              ? 'on the list'
              : 'not on the list'
            : `${formatFieldName(field)} ${isScore(field, value) ? formatPoints(value) : formatEntryValue(value)}`}
        </div>
      ))}
      {(factor.rows ?? []).length > 0 && (
        <div>Row {factor.rows?.map((row) => `“${row}”`).join(', ')} of its table matched.</div>
      )}
      {factor.defaulted && <div>The key is not on the list: the default was used.</div>}
    </Text>
  )
}

const isScore = (field: string, value: unknown): value is number => field.endsWith('_bps') && typeof value === 'number'

interface ListLinkProps {
  readonly list_key: string
  readonly lists: readonly ListVersion[]
}

/** Links to exactly the version that was used. */
export function ListLink({ list_key, lists }: ListLinkProps) {
  const title = useListTitles().get(list_key) ?? list_key
  const used = lists.find((list) => list.list_key === list_key)
  const words: ReactNode = used
    ? `${title}, version ${used.version}${used.overlay_version ? ` with overlay ${used.overlay_version}` : ''}`
    : title
  return (
    <SearchLink
      to={`/datasets/${list_key}`}
      search={used ? { tab: 'entries', version: used.version, origin: getOrigin(used.via) } : {}}
      inherit
    >
      {words}
    </SearchLink>
  )
}

/** Simulations return a free-form object that omits the members of the other kind. */
export const parseOutcome = (raw: object | null): Outcome | null =>
  raw === null
    ? null
    : ({ band: null, scored_band: null, score_bps: null, hit: null, outputs: null, ...raw } as unknown as Outcome)
export const parseExplanation = (raw: object | null): Explanation | null => raw as Explanation | null
