/** One factor of a draft: title, weight, reason, and its scoring as a grid or form. */
import { Button, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { memo } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { type Definition, type Factor, isListValue, type Value } from '#console/ui/decision/definition-model.ts'
import { OrderButton } from './collapsible-part.tsx'
import { moveItem, removeItem, renameFactor, replaceItem, setMember } from './draft-edits.ts'
import { FactorForm } from './factor-forms.tsx'
import { Faults, getFaultText } from './faults.tsx'
import { FormOrJson } from './form-or-json.tsx'
import { NameField } from './name-field.tsx'
import { parseTable } from './table-edits.ts'
import { TableGrid } from './table-grid.tsx'
import { ValueField } from './value-field.tsx'

interface FactorPartProps {
  readonly factor: Factor
  readonly place: number
  readonly isLast: boolean
  readonly isWeighted: boolean
  readonly names: readonly { readonly value: string; readonly label: string }[]
  readonly findings: readonly Finding[]
  readonly onEdit: (edit: (draft: Definition) => Definition) => void
}

/** Columns are new objects on each render, so they are compared by content. */
const isSame = (a: FactorPartProps, b: FactorPartProps): boolean =>
  a.factor === b.factor &&
  a.isLast === b.isLast &&
  a.isWeighted === b.isWeighted &&
  a.findings === b.findings &&
  JSON.stringify(a.names) === JSON.stringify(b.names)

export const FactorPart = memo(function FactorPart(props: FactorPartProps) {
  const { factor, place, isLast, names, findings, onEdit } = props
  const pointer = `/factors/${place}`
  const editAll = (change: (factors: readonly Factor[]) => readonly Factor[]) =>
    onEdit((now) => ({ ...now, factors: change(now.factors ?? []) }))
  const edit = (change: (factor: Factor) => Factor) => editAll((now) => replaceItem(now, place, change))
  const name = factor.title || factor.key
  return (
    <FormOrJson
      title={`Factor: ${name}`}
      actions={
        <Group gap={2}>
          <OrderButton
            label={`Move the factor ${name} up`}
            onClick={place === 0 ? null : () => editAll((now) => moveItem(now, place, -1))}
          >
            ↑
          </OrderButton>
          <OrderButton
            label={`Move the factor ${name} down`}
            onClick={isLast ? null : () => editAll((now) => moveItem(now, place, 1))}
          >
            ↓
          </OrderButton>
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            onClick={() => editAll((now) => removeItem(now, place))}
          >
            Remove<span className="sr-only"> the factor {name}</span>
          </Button>
        </Group>
      }
      value={factor}
      pointer={pointer}
      findings={findings}
      onWrite={(written) => edit(() => written as Factor)}
    >
      <Stack gap="sm">
        <Faults findings={findings.filter((one) => one.pointer === pointer)} />
        <FactorNameFields {...props} pointer={pointer} onChange={edit} />
        {factor.form === 'table' ? (
          <TableGrid
            label={`Table of ${name}`}
            table={parseTable(factor.table)}
            pointer={`${pointer}/table`}
            findings={findings}
            names={names}
            onEdit={(change) => edit((now) => ({ ...now, table: change(parseTable(now.table)) }))}
          />
        ) : (
          <FactorForm factor={factor} pointer={pointer} findings={findings} onChange={edit} />
        )}
        <Reasons factor={factor} pointer={pointer} findings={findings} onChange={edit} />
      </Stack>
    </FormOrJson>
  )
}, isSame)

interface FieldsProps {
  readonly factor: Factor
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onChange: (change: (factor: Factor) => Factor) => void
}

function FactorNameFields(props: FieldsProps & Pick<FactorPartProps, 'place' | 'isWeighted' | 'onEdit'>) {
  const { factor, place, pointer, findings, isWeighted, onEdit, onChange } = props
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      <TextInput
        label="Title"
        value={factor.title ?? ''}
        error={getFaultText(findings, `${pointer}/title`)}
        onChange={({ currentTarget: { value } }) => onChange((now) => ({ ...now, title: value }))}
      />
      <NameField
        label="Key"
        value={factor.key ?? ''}
        error={getFaultText(findings, `${pointer}/key`)}
        onRename={(key) => onEdit((now) => renameFactor(now, place, key))}
      />
      {(isWeighted || factor.weight_bps !== undefined) && (
        <ValueField
          name="Weight, of 10,000 points"
          value={factor.weight_bps}
          error={getFaultText(findings, `${pointer}/weight_bps`)}
          onChange={(weight) => onChange((now) => setMember(now, 'weight_bps', parseWeight(weight)))}
        />
      )}
    </SimpleGrid>
  )
}

/** A weight is a number or a list value. Anything else is kept as typed, against its type, so that the server reports it. */
const parseWeight = (value: Value | undefined): Factor['weight_bps'] =>
  value === undefined || typeof value === 'number' || isListValue(value) ? value : (String(value) as never)

function Reasons({ factor, pointer, findings, onChange }: FieldsProps) {
  const text = (member: 'reason' | 'reason_code', label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      value={factor[member] ?? ''}
      error={getFaultText(findings, `${pointer}/${member}`)}
      onChange={({ currentTarget: { value } }) => onChange((now) => setMember(now, member, value))}
    />
  )
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      {text('reason', 'Reason', 'May contain {value}, {score_bps}, {list_key} or an input name in braces.')}
      {text(
        'reason_code',
        'Reason code',
        'Reported if the score is above 0. To report a code only above a threshold, use a trigger.',
      )}
    </SimpleGrid>
  )
}
