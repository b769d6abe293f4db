/** A value of a definition: typed, or taken from a list entry. */
import { ActionIcon, Button, Stack, Text, TextInput, type TextInputProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { isListValue, type ListValue, type Value } from '#console/ui/decision/definition-model.ts'
import { ReadDialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { formatCell, parseCell } from './cell-text.ts'
import { EntryPicker, FieldPicker, ListPicker } from './list-pickers.tsx'

interface ValueFieldProps {
  /** Its name: a label, or for screen readers only if a column heading shows it. */
  readonly name: string
  readonly isLabelled?: boolean
  readonly description?: string
  readonly value: Value | undefined
  readonly error?: string | undefined
  readonly inputProps?: Pick<TextInputProps, 'size' | 'variant' | 'px' | 'w'>
  /** Empty text is undefined. */
  readonly onChange: (value: Value | undefined) => void
}

export function ValueField(props: ValueFieldProps) {
  const { name, isLabelled = true, description, value, error, inputProps, onChange } = props
  const [isChoosing, choosing] = useDisclosure(false)
  const field = useRef<HTMLInputElement>(null)
  function leave() {
    choosing.close()
    field.current?.focus()
  }
  const choose = (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={`${name}: choose from a list`}
      onClick={choosing.open}
    >
      <Icon name="lists" size={14} />
    </ActionIcon>
  )
  return (
    <>
      <TextInput
        ref={field}
        {...inputProps}
        {...(isLabelled ? { label: name } : { 'aria-label': name })}
        {...(description !== undefined && { description })}
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        value={formatCell(value)}
        title={formatCell(value)}
        error={error}
        onChange={({ currentTarget: { value: typed } }) => onChange(typed === '' ? undefined : parseCell(typed))}
        rightSection={choose}
      />
      {isChoosing && (
        <ReadDialog title={`${name}: choose from a list`} onClose={leave}>
          <FromList
            value={isListValue(value) ? value : null}
            onTake={(taken) => {
              onChange(taken)
              leave()
            }}
          />
        </ReadDialog>
      )}
    </>
  )
}

interface FromListProps {
  readonly value: ListValue | null
  readonly onTake: (value: ListValue) => void
}

function FromList({ value, onTake }: FromListProps) {
  const [order, setOrder] = useState(value ?? { list_key: '', key: '', field: 'score_bps' })
  const isComplete = order.list_key !== '' && order.key !== '' && order.field !== ''
  return (
    <Stack gap="xs">
      <ListPicker
        label="List"
        value={order.list_key}
        onChange={(list_key) => setOrder({ ...order, list_key, key: '' })}
      />
      {order.list_key !== '' && (
        <>
          <EntryPicker
            label="Entry"
            list_key={order.list_key}
            value={order.key}
            onChange={(key) => setOrder({ ...order, key })}
          />
          <FieldPicker
            label="Field"
            list_key={order.list_key}
            value={order.field}
            onChange={(field) => setOrder({ ...order, field })}
          />
        </>
      )}
      <Button size="xs" disabled={!isComplete} onClick={() => onTake(order)}>
        Use list value
      </Button>
      <Text size="xs" c="dimmed">
        The value comes from the list version in force at the time of the decision.
      </Text>
    </Stack>
  )
}
