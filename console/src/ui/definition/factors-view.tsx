/** A definition for reading: factors with weights and lists, bands, triggers, tables and inputs. */
import { ScrollRegion } from '../scroll-region.tsx'
import '../decision/decision.css'
import { Badge, Group, Table as MantineTable, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import {
  aggregationTexts,
  type Definition,
  type Factor,
  formatFieldName,
  formatPolicyValue,
  isListValue,
  type Table,
  type Value,
} from '../decision/definition-model.ts'
import { formatCondition } from '../decision/format-condition.ts'
import { Actions, BandMark } from '../decision/outcome.tsx'
import { ScoreOnBands } from '../decision/verdict.tsx'
import { formatCount, toWords } from '../format.ts'
import { PageLink } from '../link.tsx'
import { PlainTable } from '../plain-table.tsx'
import { formatPoints, MAX_POINTS } from '../points.ts'
import { SearchLink } from '../search-link.tsx'
import { Section } from '../section.tsx'
import { formatEntryValue } from '../type-texts.ts'
import { FactLink } from './fact-link.tsx'
import { useWeights, type Weights } from './weights.ts'

export function FactorsView({ definition }: { readonly definition: Definition }) {
  const { factors = [], bands, triggers = [], aggregation, table } = definition
  const weights = useWeights(factors)
  return (
    <Stack gap="md">
      {bands && (
        <Section
          title="Score and bands"
          actions={
            <PageLink to={`/datasets/${bands.list_key}`} size="sm">
              {bands.list_key}
            </PageLink>
          }
        >
          <Text size="sm" mb="xs">
            {aggregationTexts[aggregation ?? ''] ?? toWords(aggregation ?? '')}
          </Text>
          <ScoreOnBands bands={bands} />
        </Section>
      )}
      {factors.length > 0 && (
        <Section title={formatCount(factors.length, 'factor')}>
          <ul className="plain-list">
            {factors.map((factor) => (
              <li key={factor.key} className="factor">
                <FactorText factor={factor} definition={definition} weights={weights} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      {table && (
        <Section title="Decision table">
          <TableView table={table} definition={definition} label="Decision table rows" />
          {definition.reason && (
            <Text size="sm" mt="sm">
              Reason of a hit: “{definition.reason}” <span className="quiet mono">{definition.reason_code}</span>
            </Text>
          )}
          {(definition.required_actions ?? []).length > 0 && (
            <Group gap="xs" mt="sm">
              <Text size="sm" c="dimmed">
                Required actions:
              </Text>
              <Actions of={definition.required_actions ?? []} />
            </Group>
          )}
        </Section>
      )}
      {triggers.length > 0 && (
        <Section title={formatCount(triggers.length, 'trigger')}>
          <Triggers definition={definition} />
        </Section>
      )}
      <InputsView definition={definition} />
    </Stack>
  )
}

const getInputTitle = (definition: Definition, name: string): string => {
  const factor = /^factor\.(.+)$/.exec(name)?.[1]
  if (factor !== undefined) {
    return `score of ${definition.factors?.find(({ key }) => key === factor)?.title ?? factor}`
  }
  return definition.inputs?.find((input) => input.name === name)?.title ?? name
}

interface FactorTextProps {
  readonly factor: Factor
  readonly definition: Definition
  readonly weights: Weights
}

function FactorText({ factor, definition, weights }: FactorTextProps) {
  return (
    <Stack gap={4}>
      <div className="factor-head">
        <b>{factor.title}</b>
        <Weight of={factor} weights={weights} />
      </div>
      <Text size="sm" component="div">
        {describeFactor(factor, definition)}
      </Text>
      {factor.table && <TableView table={factor.table} definition={definition} label={`Table of ${factor.title}`} />}
      {factor.scores && (
        <Group gap={6}>
          {Object.entries(factor.scores).map(([value, score]) => (
            <Badge key={value} variant="default" tt="none" fw={500}>
              {value}: {isListValue(score) ? score.key : formatPolicyValue(score)}
            </Badge>
          ))}
        </Group>
      )}
    </Stack>
  )
}

/** The weight as a number and as its share of all weights; a value from a list as it is in force now. */
function Weight({ of: { key, weight_bps }, weights }: { readonly of: Factor; readonly weights: Weights }) {
  if (weight_bps === undefined) return null
  const value = weights.byFactor.get(key)
  const isFromList = typeof weight_bps !== 'number'
  return (
    <span className="number">
      weight {value === undefined ? '' : <b>{value.toLocaleString('en')}</b>}
      {value !== undefined && weights.total > 0 && ` (${((100 * value) / weights.total).toFixed(1)} % of all weights)`}
      {isFromList && (
        <span className="quiet">
          {' '}
          from <ListKey of={weight_bps.list_key} entry={weight_bps.key} />
        </span>
      )}
    </span>
  )
}

function ListKey({ of, entry }: { readonly of: string; readonly entry?: string }) {
  return (
    <SearchLink to={`/datasets/${of}`} search={entry === undefined ? {} : { tab: 'entries', key: entry }} inherit>
      {of}
    </SearchLink>
  )
}

function describeFactor(factor: Factor, definition: Definition): ReactNode {
  const names = (factor.inputs ?? [factor.input ?? '']).map((name) => getInputTitle(definition, name)).join(' and ')
  switch (factor.form) {
    case 'lookup':
      return (
        <>
          The {formatFieldName(factor.field ?? '')} of <b>{names}</b> in <ListKey of={factor.list_key ?? ''} />.{' '}
          <span className="quiet">
            {typeof factor.on_missing === 'object'
              ? `A value that is not on the list scores ${formatPolicyValue(factor.on_missing.default)}.`
              : 'A value that is not on the list is rejected.'}
          </span>
        </>
      )
    case 'presence':
      return (
        <>
          {formatPolicyValue(factor.present)} {factor.count ? 'for each value' : 'when a value'} of <b>{names}</b> is on{' '}
          <ListKey of={factor.list_key ?? ''} />, {formatPolicyValue(factor.absent)} otherwise.
        </>
      )
    case 'plugin':
      return (
        <>
          Computed by the plugin{' '}
          <PageLink to={`/plugins/${factor.plugin_key ?? ''}`} inherit>
            {factor.plugin_key}
          </PageLink>{' '}
          from <b>{names}</b>: {formatPoints(factor.score_min_bps ?? 0)} to{' '}
          {formatPoints(factor.score_max_bps ?? MAX_POINTS)} points.{' '}
          <span className="quiet">While the plugin cannot run, nothing is decided.</span>
        </>
      )
    case 'score_map':
      return (
        <>
          Each value of <b>{names}</b> has its score.
        </>
      )
    default:
      return (
        <>
          A table over{' '}
          <b>{(factor.table?.columns ?? []).map((name) => getInputTitle(definition, name)).join(' and ')}</b>.
        </>
      )
  }
}

const policies: Readonly<Record<string, string>> = {
  unique: 'At most one row matches.',
  any: 'Matching rows return the same result.',
  first: 'The first matching row applies.',
  priority: 'The matching row with the highest priority applies.',
  collect: 'All matching rows apply.',
}

interface TableViewProps {
  readonly table: Table
  readonly definition: Definition
  readonly label: string
}

/** A read-only decision table: inputs on the left, outputs on the right. */
export function TableView({ table, definition, label }: TableViewProps) {
  return (
    <div>
      <ScrollRegion label={label} className="table-card">
        <table className="grid grid-read" aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Row</th>
              {table.columns.map((name) => (
                <th scope="col" key={name}>
                  {getInputTitle(definition, name)}
                </th>
              ))}
              {table.outputs.map(({ name, title }) => (
                <th scope="col" key={name} className="output">
                  {title ?? toWords(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr key={row.key} title={row.reason}>
                <th scope="row">{row.key}</th>
                {row.when.map((test, place) => (
                  <td key={place} className="mono" title={test}>
                    {test === '-' ? <span className="quiet">any</span> : formatCondition(test)}
                  </td>
                ))}
                {row.then.map((value, place) => (
                  <td key={place} className="output">
                    <ValueText value={value} />
                  </td>
                ))}
              </tr>
            ))}
            {table.otherwise && (
              <tr>
                <th scope="row">default</th>
                {table.columns.map((name) => (
                  <td key={name} className="quiet">
                    any
                  </td>
                ))}
                {table.otherwise.then.map((value, place) => (
                  <td key={place} className="output">
                    <ValueText value={value} />
                  </td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      </ScrollRegion>
      <Text size="xs" c="dimmed" mt={2}>
        {policies[table.hit_policy] ?? toWords(table.hit_policy)}
      </Text>
    </div>
  )
}

function ValueText({ value }: { readonly value: Value }) {
  if (!isListValue(value)) return <span className="number">{formatEntryValue(value)}</span>
  return (
    <SearchLink to={`/datasets/${value.list_key}`} search={{ tab: 'entries', key: value.key }} size="sm">
      {value.key}
    </SearchLink>
  )
}

function Triggers({ definition }: { readonly definition: Definition }) {
  return (
    <PlainTable
      label="Triggers"
      empty={null}
      head={[
        { name: 'Trigger' },
        { name: 'When' },
        { name: 'Minimum band', from: 'sm' },
        { name: 'Required actions', from: 'md' },
      ]}
    >
      {(definition.triggers ?? []).map((trigger) => (
        <MantineTable.Tr key={trigger.key}>
          <MantineTable.Td>
            {trigger.title}
            <Text size="xs" c="dimmed">
              {trigger.reason}
            </Text>
          </MantineTable.Td>
          <MantineTable.Td>
            {trigger.when.map(({ of, test }) => (
              <div key={`${of} ${test}`}>
                {of === 'score' ? 'the score' : getInputTitle(definition, of)}{' '}
                <span className="mono condition">{formatCondition(test)}</span>
              </div>
            ))}
          </MantineTable.Td>
          <MantineTable.Td visibleFrom="sm">
            {trigger.floor_band === undefined ? '–' : <BandMark band={trigger.floor_band} />}
          </MantineTable.Td>
          <MantineTable.Td visibleFrom="md">
            <Actions of={trigger.required_actions ?? []} />
          </MantineTable.Td>
        </MantineTable.Tr>
      ))}
    </PlainTable>
  )
}

function InputsView({ definition }: { readonly definition: Definition }) {
  const inputs = definition.inputs ?? []
  if (inputs.length === 0) return null
  return (
    <Section title={formatCount(inputs.length, 'input')}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xs">
        {inputs.map((input) => (
          <div key={input.name}>
            <Text size="sm" fw={500}>
              {input.title} <span className="mono quiet">{input.name}</span>
            </Text>
            <Text size="xs" c="dimmed" component="div">
              {input.type}
              {input.unit && ` in ${input.unit}`}
              {input.values && `: ${input.values.join(', ')}`}
              {input.one_of && (
                <>
                  {' '}
                  from <ListKey of={input.one_of.list_key} />
                </>
              )}
              {input.minimum !== undefined && `, from ${input.minimum}`}
              {input.maximum !== undefined && ` to ${input.maximum}`}
              {input.default !== undefined && `, ${formatEntryValue(input.default)} by default`}
            </Text>
            {input.from && <FactLink of={input.from} />}
          </div>
        ))}
      </SimpleGrid>
    </Section>
  )
}
