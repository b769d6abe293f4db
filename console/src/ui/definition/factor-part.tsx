/** One factor of a draft: title and weight as fields, its table as a grid, the rest as JSON. */
import { Button, Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { memo, useMemo } from 'react'
import type { Finding } from '../decision/kind.ts'
import type { Definition, Factor } from '../decision/model.ts'
import { Section } from '../section.tsx'
import { JsonPart } from './json-part.tsx'
import { tableIn } from './table-edits.ts'
import { TableGrid } from './table-grid.tsx'

interface FactorPartProps {
  readonly factor: Factor
  readonly place: number
  readonly names: readonly { readonly value: string; readonly label: string }[]
  readonly findings: readonly Finding[]
  readonly onEdit: (edit: (draft: Definition) => Definition) => void
}

/** Columns are offered anew with each letter; what counts is whether others are offered. */
const isSame = (a: FactorPartProps, b: FactorPartProps): boolean =>
  a.factor === b.factor && a.findings === b.findings && JSON.stringify(a.names) === JSON.stringify(b.names)

export const FactorPart = memo(function FactorPart({ factor, place, names, findings, onEdit }: FactorPartProps) {
  const pointer = `/factors/${place}`
  const edit = (change: (factor: Factor) => Factor) =>
    onEdit((now) => ({ ...now, factors: (now.factors ?? []).map((one, at) => (at === place ? change(one) : one)) }))
  const remove = () => onEdit((now) => ({ ...now, factors: (now.factors ?? []).filter((_, at) => at !== place) }))
  const others = useMemo(
    () => findings.filter((one) => !one.pointer.startsWith(`${pointer}/table`)),
    [findings, pointer],
  )
  const faultAt = (member: string) => findings.find((finding) => finding.pointer === `${pointer}/${member}`)?.message
  const { key, title, weight_bps, table, ...rest } = factor
  return (
    <Section
      title={`Factor: ${title || key}`}
      aside={
        <Button size="compact-xs" variant="subtle" color="red" onClick={remove}>
          Remove<span className="sr-only"> the factor {title || key}</span>
        </Button>
      }
    >
      <Stack gap="sm">
        <Group gap="sm" grow preventGrowOverflow={false} align="flex-start">
          <TextInput
            label="Title"
            value={title ?? ''}
            error={faultAt('title')}
            onChange={({ currentTarget: { value } }) => edit((now) => ({ ...now, title: value }))}
          />
          {typeof weight_bps !== 'object' && (
            <NumberInput
              label="Weight, in basis points"
              min={0}
              max={10_000}
              allowDecimal={false}
              value={weight_bps ?? ''}
              error={faultAt('weight_bps')}
              onChange={(typed) => edit((now) => weighted(now, typed))}
            />
          )}
        </Group>
        {factor.form === 'table' ? (
          <TableGrid
            label={`Table of ${title || key}`}
            table={tableIn(table)}
            pointer={`${pointer}/table`}
            findings={findings}
            names={names}
            onEdit={(change) => edit((now) => ({ ...now, table: change(tableIn(now.table)) }))}
          />
        ) : null}
        <JsonPart
          label={factor.form === 'table' ? 'Its other members' : 'How it scores'}
          value={{ key, ...(typeof weight_bps === 'object' && { weight_bps }), ...rest }}
          pointer={pointer}
          findings={others}
          onChange={(members) => edit((now) => withMembers(now, members as object))}
        />
      </Stack>
    </Section>
  )
}, isSame)

const weighted = ({ weight_bps: _, ...factor }: Factor, typed: number | string): Factor =>
  typeof typed === 'number' ? { ...factor, weight_bps: typed } : factor

/** What has a field of its own stays; everything else is as it was written. */
const withMembers = ({ title, weight_bps, table }: Factor, members: object): Factor =>
  ({ title, ...(typeof weight_bps === 'number' && { weight_bps }), ...(table && { table }), ...members }) as Factor
