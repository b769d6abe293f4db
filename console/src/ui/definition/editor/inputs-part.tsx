/** The inputs of a draft: type, allowed values and default of each. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { memo, useState } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Definition, Input } from '#console/ui/decision/definition-model.ts'
import { CollapsiblePart } from './collapsible-part.tsx'
import { findFreeName, moveItem, removeItem, renameInput, replaceItem } from './draft-edits.ts'
import { hasFaults } from './faults.tsx'
import { FormOrJson } from './form-or-json.tsx'
import { InputFields } from './input-fields.tsx'
import { describeInput, inputTypes } from './input-texts.ts'

type OnEdit = (edit: (draft: Definition) => Definition) => void

interface InputsPartProps {
  readonly inputs: readonly Input[]
  readonly findings: readonly Finding[]
  readonly onEdit: OnEdit
}

/** The position of a new input, which is shown open. */
export const InputsPart = memo(function InputsPart({ inputs, findings, onEdit }: InputsPartProps) {
  const [newest, setNewest] = useState<number | null>(null)
  const edit = (change: (inputs: readonly Input[]) => readonly Input[]) =>
    onEdit((now) => ({ ...now, inputs: change(now.inputs ?? []) }))
  function add() {
    setNewest(inputs.length)
    edit((now) => {
      const name = findFreeName(
        now.map((input) => input.name),
        'input_',
      )
      return [...now, { name, title: 'New input', type: 'enum', values: [] }]
    })
  }
  return (
    <FormOrJson
      title="Inputs"
      value={inputs}
      pointer="/inputs"
      findings={findings}
      onWrite={(written) => onEdit((now) => ({ ...now, inputs: written as readonly Input[] }))}
    >
      <Stack gap="xs">
        {inputs.length === 0 && (
          <Text size="sm" c="dimmed">
            No inputs yet.
          </Text>
        )}
        {inputs.map((input, place) => (
          <InputPart
            // Keyed by position, because the name of an input is edited.
            key={`${place} ${inputs.length}`}
            input={input}
            place={place}
            isLast={place === inputs.length - 1}
            isNew={newest === place}
            findings={findings}
            onEdit={onEdit}
          />
        ))}
        <Group>
          <Button size="xs" variant="default" onClick={add}>
            Add input
          </Button>
        </Group>
      </Stack>
    </FormOrJson>
  )
})

interface InputPartProps {
  readonly input: Input
  readonly place: number
  readonly isLast: boolean
  readonly isNew: boolean
  readonly findings: readonly Finding[]
  readonly onEdit: OnEdit
}

const isSame = (a: InputPartProps, b: InputPartProps): boolean =>
  a.input === b.input && a.isLast === b.isLast && a.findings === b.findings

const InputPart = memo(function InputPart({ input, place, isLast, isNew, findings, onEdit }: InputPartProps) {
  const pointer = `/inputs/${place}`
  const edit = (change: (inputs: readonly Input[]) => readonly Input[]) =>
    onEdit((now) => ({ ...now, inputs: change(now.inputs ?? []) }))
  return (
    <CollapsiblePart
      name={`the input ${input.title || input.name}`}
      title={input.title || input.name || '?'}
      about={
        <>
          <span className="mono">{input.name}</span> · {describeInput(input)}
        </>
      }
      pointer={pointer}
      isFaulty={hasFaults(findings, pointer)}
      isNew={isNew}
      onUp={place === 0 ? null : () => edit((now) => moveItem(now, place, -1))}
      onDown={isLast ? null : () => edit((now) => moveItem(now, place, 1))}
      onRemove={() => edit((now) => removeItem(now, place))}
    >
      {() => (
        <InputFields
          input={inputTypes[input.type] ? input : { ...input, type: 'string' }}
          pointer={pointer}
          findings={findings}
          onChange={(change) => edit((now) => replaceItem(now, place, change))}
          onRename={(name) => onEdit((now) => renameInput(now, place, name))}
        />
      )}
    </CollapsiblePart>
  )
}, isSame)
