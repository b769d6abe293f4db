/** The facts of a draft: where each is read, of which type it is, and which values are allowed. */
import {
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { InputType } from '#console/ui/decision/definition-model.ts'
import { CollapsiblePart } from '#console/ui/definition/editor/collapsible-part.tsx'
import {
  findFreeName,
  moveItem,
  removeItem,
  replaceItem,
  setMember,
} from '#console/ui/definition/editor/draft-edits.ts'
import { Faults, getFaultText, hasFaults } from '#console/ui/definition/editor/faults.tsx'
import { FormOrJson } from '#console/ui/definition/editor/form-or-json.tsx'
import { describeInput, inputTypes } from '#console/ui/definition/editor/input-texts.ts'
import { ListPicker } from '#console/ui/definition/editor/list-pickers.tsx'
import type { Fact } from './contract-model.ts'
import type { ContractPartsProps } from './contract-parts-props.ts'

export function FactsPart({ draft, findings, onEdit }: ContractPartsProps) {
  const [newest, setNewest] = useState<number | null>(null)
  const facts = draft.facts ?? []
  const edit = (change: (facts: readonly Fact[]) => readonly Fact[]) =>
    onEdit((now) => ({ ...now, facts: change(now.facts ?? []) }))
  function add() {
    setNewest(facts.length)
    const name = findFreeName(
      facts.map((fact) => fact.name),
      'fact_',
    )
    edit((now) => [...now, { name, at: '/', type: 'string' }])
  }
  return (
    <FormOrJson
      title="Facts"
      value={facts}
      pointer="/facts"
      findings={findings}
      onWrite={(written) => onEdit((now) => ({ ...now, facts: written as readonly Fact[] }))}
    >
      <Stack gap="xs">
        {facts.length === 0 && (
          <Text size="sm" c="dimmed">
            No facts yet. Decisions read facts only; everything else of a payload is kept as evidence.
          </Text>
        )}
        {facts.map((fact, place) => (
          <CollapsiblePart
            // Keyed by position, because the name of a fact is edited.
            key={`${place} ${facts.length}`}
            name={`the fact ${fact.name}`}
            title={fact.title || fact.name || '?'}
            about={
              <>
                <span className="mono">{fact.at}</span> · {describeInput({ ...fact, title: fact.name })}
                {fact.required && ', required'}
                {fact.personal && ', personal'}
              </>
            }
            pointer={`/facts/${place}`}
            isFaulty={hasFaults(findings, `/facts/${place}`)}
            isNew={newest === place}
            onUp={place === 0 ? null : () => edit((now) => moveItem(now, place, -1))}
            onDown={place === facts.length - 1 ? null : () => edit((now) => moveItem(now, place, 1))}
            onRemove={() => edit((now) => removeItem(now, place))}
          >
            {() => (
              <FactFields
                fact={fact}
                pointer={`/facts/${place}`}
                findings={findings}
                onChange={(change) => edit((now) => replaceItem(now, place, change))}
              />
            )}
          </CollapsiblePart>
        ))}
        <Group>
          <Button size="xs" variant="default" onClick={add}>
            Add fact
          </Button>
        </Group>
      </Stack>
    </FormOrJson>
  )
}

interface FactFieldsProps {
  readonly fact: Fact
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onChange: (change: (fact: Fact) => Fact) => void
}

/** Keeps the members that still apply to another type. */
function changeType(
  { name, title, at, description, unit, values, one_of, required, personal }: Fact,
  type: InputType,
): Fact {
  const isChosen = type === 'enum' || type === 'list'
  return {
    name,
    at,
    type,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(unit !== undefined && (type === 'integer' || type === 'decimal') && { unit }),
    ...(isChosen && one_of && { one_of }),
    ...(type === 'enum' && !one_of && { values: values ?? [] }),
    ...(type === 'decimal' && { scale: 2 }),
    ...(required && { required }),
    ...(personal && { personal }),
  }
}

function FactFields({ fact, pointer, findings, onChange }: FactFieldsProps) {
  const fault = (member: string) => getFaultText(findings, `${pointer}/${member}`)
  return (
    <Stack gap="sm">
      <Faults findings={findings.filter((one) => one.pointer === pointer)} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Name"
          description="Matrices and rules name the fact by it."
          required
          classNames={{ input: 'mono' }}
          value={fact.name}
          error={fault('name')}
          onChange={({ currentTarget: { value } }) => onChange((now) => ({ ...now, name: value }))}
        />
        <TextInput
          label="Taken from"
          description="JSON Pointer into a record; * is any element of a list."
          required
          classNames={{ input: 'mono' }}
          value={fact.at}
          error={fault('at')}
          onChange={({ currentTarget: { value } }) => onChange((now) => ({ ...now, at: value }))}
        />
        <TextInput
          label="Title"
          value={fact.title ?? ''}
          error={fault('title')}
          onChange={({ currentTarget: { value } }) => onChange((now) => setMember(now, 'title', value))}
        />
        <Select
          label="Type"
          allowDeselect={false}
          data={Object.entries(inputTypes).map(([value, label]) => ({ value, label }))}
          value={fact.type}
          error={fault('type')}
          onChange={(type) => type && onChange((now) => changeType(now, type as InputType))}
        />
        {fact.type === 'decimal' && (
          <NumberInput
            label="Decimal places"
            min={0}
            max={10}
            allowDecimal={false}
            value={fact.scale ?? ''}
            error={fault('scale')}
            onChange={(scale) =>
              onChange((now) => setMember(now, 'scale', typeof scale === 'number' ? scale : undefined))
            }
          />
        )}
      </SimpleGrid>
      {(fact.type === 'enum' || fact.type === 'list') && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <ListPicker
            label="Allowed values of the list"
            value={fact.one_of?.list_key ?? ''}
            error={fault('one_of')}
            onChange={(list_key) => onChange(({ values: _, ...now }) => ({ ...now, one_of: { list_key } }))}
          />
          <TagsInput
            label="or these values"
            value={[...(fact.values ?? [])]}
            error={fault('values')}
            onChange={(values) =>
              onChange(({ one_of, ...now }) =>
                values.length === 0 && one_of ? { ...now, one_of } : setMember(now, 'values', values),
              )
            }
          />
        </SimpleGrid>
      )}
      <Group gap="lg">
        <Checkbox
          label="Required: a record without it is refused"
          checked={fact.required ?? false}
          onChange={({ currentTarget: { checked } }) =>
            onChange((now) => setMember(now, 'required', checked || undefined))
          }
        />
        <Checkbox
          label="Personal data"
          checked={fact.personal ?? false}
          onChange={({ currentTarget: { checked } }) =>
            onChange((now) => setMember(now, 'personal', checked || undefined))
          }
        />
      </Group>
    </Stack>
  )
}
