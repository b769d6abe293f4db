/** The fields of one input, depending on its type. */
import { Checkbox, NumberInput, SegmentedControl, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Input, InputType } from '#console/ui/decision/definition-model.ts'
import { InputField } from '#console/ui/decision/inputs-form.tsx'
import { setMember } from './draft-edits.ts'
import { Faults, getFaultText } from './faults.tsx'
import { InputSource } from './input-source.tsx'
import { changeType, firstDefault, inputTypes } from './input-texts.ts'
import { FieldPicker, ListPicker } from './list-pickers.tsx'
import { NameField } from './name-field.tsx'

export interface InputFieldsProps {
  readonly input: Input
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onChange: (change: (input: Input) => Input) => void
  readonly onRename: (name: string) => void
}

export function InputFields(props: InputFieldsProps) {
  const { input, pointer, findings, onChange, onRename } = props
  const fault = (member: string) => getFaultText(findings, `${pointer}/${member}`)
  const text = (member: 'title' | 'description' | 'unit', label: string) => (
    <TextInput
      label={label}
      value={input[member] ?? ''}
      error={fault(member)}
      onChange={({ currentTarget: { value } }) =>
        onChange((now) => (member === 'title' ? { ...now, title: value } : setMember(now, member, value)))
      }
    />
  )
  const isChosen = input.type === 'enum' || input.type === 'list'
  const isMeasured = input.type === 'integer' || input.type === 'decimal'
  return (
    <Stack gap="sm">
      <Faults findings={findings.filter((one) => one.pointer === pointer)} />
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        {text('title', 'Title')}
        <NameField label="Name" value={input.name} error={fault('name')} onRename={onRename} />
        <Select
          label="Type"
          allowDeselect={false}
          data={Object.entries(inputTypes).map(([value, label]) => ({ value, label }))}
          value={input.type}
          error={fault('type')}
          onChange={(type) => type && onChange((now) => changeType(now, type as InputType))}
        />
        {text('description', 'Help text')}
        {isMeasured && text('unit', 'Unit')}
        {input.type === 'decimal' && (
          <NumberInput
            label="Decimal places"
            min={0}
            max={10}
            allowDecimal={false}
            placeholder="2"
            value={input.scale ?? ''}
            error={fault('scale')}
            onChange={(scale) =>
              onChange((now) => setMember(now, 'scale', typeof scale === 'number' ? scale : undefined))
            }
          />
        )}
        {(isMeasured || input.type === 'date') && <Limits {...props} />}
        {input.type === 'list' && (
          <NumberInput
            label="Maximum number of values"
            min={1}
            max={1000}
            allowDecimal={false}
            value={input.max_items ?? ''}
            error={fault('max_items')}
            onChange={(most) =>
              onChange((now) => setMember(now, 'max_items', typeof most === 'number' ? most : undefined))
            }
          />
        )}
      </SimpleGrid>
      {isChosen && <Allowed {...props} />}
      <InputSource {...props} />
      <Fallback {...props} />
    </Stack>
  )
}

/** Integers are numbers on the wire; decimals and dates are text. */
function Limits({ input, pointer, findings, onChange }: InputFieldsProps) {
  const limit = (member: 'minimum' | 'maximum', label: string) => {
    const error = getFaultText(findings, `${pointer}/${member}`)
    const set = (value: number | string | undefined) => onChange((now) => setMember(now, member, value))
    return input.type === 'integer' ? (
      <NumberInput
        label={label}
        allowDecimal={false}
        value={input[member] ?? ''}
        error={error}
        onChange={(value) => set(typeof value === 'number' ? value : undefined)}
      />
    ) : (
      <TextInput
        label={label}
        type={input.type === 'date' ? 'date' : 'text'}
        value={String(input[member] ?? '')}
        error={error}
        onChange={(event) => set(event.currentTarget.value)}
      />
    )
  }
  return (
    <>
      {limit('minimum', 'Minimum')}
      {limit('maximum', 'Maximum')}
    </>
  )
}

function Allowed({ input, pointer, findings, onChange }: InputFieldsProps) {
  const { one_of, values } = input
  const setWay = (way: string) =>
    onChange(({ values: _, one_of: __, ...now }) =>
      way === 'list' ? { ...now, one_of: { list_key: '' } } : { ...now, values: [] },
    )
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Source of allowed values"
        w="max-content"
        value={one_of ? 'list' : 'here'}
        onChange={setWay}
        data={[
          { value: 'here', label: 'Fixed values' },
          { value: 'list', label: 'Values from a list' },
        ]}
      />
      {one_of ? (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <ListPicker
            label="List"
            value={one_of.list_key ?? ''}
            error={getFaultText(findings, `${pointer}/one_of/list_key`) ?? getFaultText(findings, `${pointer}/one_of`)}
            onChange={(list_key) => onChange((now) => ({ ...now, one_of: { list_key } }))}
          />
          <FieldPicker
            label="Field of the entries"
            list_key={one_of.list_key ?? ''}
            keyWords="key"
            value={one_of.field ?? ''}
            error={getFaultText(findings, `${pointer}/one_of/field`)}
            onChange={(field) =>
              onChange((now) => ({ ...now, one_of: setMember(now.one_of ?? { list_key: '' }, 'field', field) }))
            }
          />
        </SimpleGrid>
      ) : (
        <TagsInput
          label="Allowed values"
          description="Type one and press Enter."
          value={[...(values ?? [])]}
          error={getFaultText(findings, `${pointer}/values`)}
          onChange={(typed) => onChange((now) => ({ ...now, values: typed }))}
        />
      )}
    </Stack>
  )
}

function Fallback({ input, pointer, findings, onChange }: InputFieldsProps) {
  const isOptional = 'default' in input
  const { default: fallback, description: _, ...declared } = input
  return (
    <Stack gap="xs">
      <Checkbox
        label="Optional"
        description="If off, a decision without this input is rejected. Explanations state when the default was used."
        checked={isOptional}
        onChange={({ currentTarget: { checked } }) =>
          onChange(({ default: __, ...now }) => (checked ? { ...now, default: firstDefault(now) } : now))
        }
      />
      {isOptional && (
        <InputField
          input={{ ...declared, title: 'Default value' }}
          value={fallback}
          error={getFaultText(findings, `${pointer}/default`)}
          onChange={(value) =>
            onChange((now) => ({ ...now, default: value ?? (now.type === 'list' ? [] : (null as unknown)) }))
          }
        />
      )}
    </Stack>
  )
}
