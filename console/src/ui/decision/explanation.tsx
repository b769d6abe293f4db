/** The explanation of a decision: triggers, factor scores with their lists, matching rows, summary and inputs. */
import './decision.css'
import { Alert, Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import type { ReactNode } from 'react'
import { toWords } from '../format.ts'
import { Icon } from '../icons.tsx'
import { getOrigin } from '../origin.ts'
import { PlainTable } from '../plain-table.tsx'
import { SearchLink } from '../search-link.tsx'
import { Section } from '../section.tsx'
import { formatEntryValue } from '../type-texts.ts'
import { formatFieldName, formatPercent } from './definition-model.ts'
import { BandMark, type Outcome } from './outcome.tsx'
import { ReasonCodes } from './reason-codes.tsx'

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
  return (
    <Stack gap="md">
      {triggers.length > 0 && (
        <Section title="Triggers that fired">
          <Stack gap="xs">
            {triggers.map((trigger) => (
              <Alert key={trigger.key} color="orange" icon={<Icon name="warning" />} title={trigger.title}>
                <Text size="sm">{trigger.reason}</Text>
                <Group gap="xs" mt={4}>
                  {trigger.floor_band !== null && (
                    <Text size="sm" component="span">
                      at least <BandMark band={trigger.floor_band} />
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
          <Contributions factors={factors} outcome={outcome} lists={lists} />
        </Section>
      )}
      {outcome.family === 'rule' && <FiredRows rows={rows} />}
      <Section title="Summary">
        <Stack gap={4}>
          {summary.map((text, place) => (
            <Text key={place} size="sm">
              {text}
            </Text>
          ))}
        </Stack>
      </Section>
      <DecisionInputs inputs={explanation.inputs} />
    </Stack>
  )
}

/** The inputs a decision used, with the defaults it filled in. */
export function DecisionInputs({ inputs }: { readonly inputs: Explanation['inputs'] }) {
  return (
    <Section title="Inputs">
      <PlainTable
        label="Inputs of the decision"
        empty={{ title: 'No inputs', about: 'The decision used no input: its result is the same for every subject.' }}
        head={[{ name: 'Input' }, { name: 'Value' }]}
      >
        {inputs.map(({ name, value, defaulted }) => (
          <Table.Tr key={name}>
            <Table.Td className="mono">{name}</Table.Td>
            <Table.Td>
              {formatEntryValue(value)} {defaulted && <span className="quiet">default, not provided</span>}
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
}

const MAX_BPS = 10_000

/**
 * All tracks are on one scale: the length of a track is the weight of its factor, and the filled part is what the factor contributed.
 * Without weights every track is the whole scale.
 */
function getTrack({ weight_bps, contribution_bps }: Factor, heaviest_bps: number | null) {
  if (heaviest_bps === null || !weight_bps) return { width: 100, fill: (100 * Number(contribution_bps)) / MAX_BPS }
  return { width: (100 * weight_bps) / heaviest_bps, fill: (100 * Number(contribution_bps)) / weight_bps }
}

/** One bar per factor with the numbers beside it. */
function Contributions({ factors, outcome, lists }: ContributionsProps) {
  const isWeighted = factors.length > 0 && factors.every(({ weight_bps }) => Boolean(weight_bps))
  const heaviest_bps = isWeighted ? Math.max(...factors.map(({ weight_bps }) => weight_bps ?? 0)) : null
  return (
    <ul className="factors plain-list" aria-label="Factors and what each contributed">
      {factors.map((factor) => (
        <li key={factor.key} className="factor">
          <div className="factor-head">
            <b>{factor.title}</b>
            <span className="number">
              <b>+{Number(factor.contribution_bps).toLocaleString('en', { maximumFractionDigits: 1 })}</b>{' '}
              <span className="quiet">
                score {factor.score_bps.toLocaleString('en')}
                {factor.weight_bps !== null && ` × weight ${formatPercent(factor.weight_bps)}`}
              </span>
            </span>
          </div>
          <ContributionBar {...getTrack(factor, heaviest_bps)} />
          <Text size="sm">{factor.reason}</Text>
          <FactorSources factor={factor} lists={lists} />
        </li>
      ))}
      {outcome.score_bps !== null && (
        <li className="factor-total">
          {' '}
          Total <b className="number">{outcome.score_bps.toLocaleString('en')}</b> of 10,000
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

/** The list values of a factor, its matching rows, and whether a default was used. */
function FactorSources({ factor, lists }: { readonly factor: Factor; readonly lists: readonly ListVersion[] }) {
  const found = factor.found ?? []
  if (found.length === 0 && (factor.rows ?? []).length === 0 && !factor.defaulted) return null
  return (
    <Text size="xs" c="dimmed" component="div">
      {found.map(({ list_key, key, field, value }) => (
        <div key={`${list_key} ${key} ${field}`}>
          <ListLink list_key={list_key} lists={lists} />, entry <span className="mono">{key}</span>:{' '}
          {field === null
            ? value
              ? 'on the list'
              : 'not on the list'
            : `${formatFieldName(field)} ${formatEntryValue(value)}`}
        </div>
      ))}
      {(factor.rows ?? []).length > 0 && (
        <div>Row {factor.rows?.map((row) => `“${row}”`).join(', ')} of its table matched.</div>
      )}
      {factor.defaulted && <div>The key is not on the list: the default was used.</div>}
    </Text>
  )
}

interface ListLinkProps {
  readonly list_key: string
  readonly lists: readonly ListVersion[]
}

/** Links to exactly the version that was used. */
export function ListLink({ list_key, lists }: ListLinkProps) {
  const used = lists.find((list) => list.list_key === list_key)
  const words: ReactNode = used
    ? `${list_key}, version ${used.version}${used.overlay_version ? ` with overlay ${used.overlay_version}` : ''}`
    : list_key
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
