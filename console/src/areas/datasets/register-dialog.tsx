/** Registering a list: its name, its type, who answers for it and how often it is looked at. */
import { Group, NumberInput, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { ApprovalNote } from '../../ui/approval-note.tsx'
import { useChange } from '../../ui/change.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { faultsByField } from '../../ui/problem-words.ts'

const blank = {
  list_key: '',
  title: '',
  type_key: '',
  owner: '',
  description: '',
  review_every_days: '' as number | string,
  stale_after_days: '' as number | string,
}
const days = (value: number | string): number | null => (typeof value === 'number' ? value : null)

export function RegisterDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [list, setList] = useState(blank)
  const { data: types } = useQuery({
    queryKey: ['types', 'choices'],
    queryFn: ({ signal }) =>
      probity
        .GET('/api/reference-data/types', { params: { query: { limit: 200 } }, signal })
        .then(({ items }) => items),
    enabled: isOpen,
  })
  const register = useChange(
    ({ list_key, title, type_key, owner, description, review_every_days, stale_after_days }: typeof blank) =>
      probity.POST('/api/reference-data/datasets', {
        body: {
          list_key,
          title,
          type_key,
          owner: owner || null,
          description: description || null,
          review_every_days: days(review_every_days),
          stale_after_days: days(stale_after_days),
        },
      }),
    {
      touches: ['datasets'],
      done: ({ title }) => `${title} is registered`,
      onDone: ({ list_key }) => {
        close()
        navigate({ to: `/datasets/${list_key}` })
      },
    },
  )
  const faults = faultsByField(register.problem)
  function close() {
    setList(blank)
    register.forget()
    onClose()
  }
  const field = (name: 'list_key' | 'title' | 'owner' | 'description') => ({
    value: list[name],
    error: faults[name],
    onChange: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      setList({ ...list, [name]: event.currentTarget.value }),
  })
  const number = (name: 'review_every_days' | 'stale_after_days') => ({
    value: list[name],
    error: faults[name],
    min: 1,
    max: 3660,
    allowDecimal: false,
    onChange: (value: number | string) => setList({ ...list, [name]: value }),
  })
  return (
    <FormDialog
      title="Register a list"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => register.run(list)}
      submit="Register the list"
      change={register}
      size="lg"
    >
      <Group grow align="flex-start">
        <TextInput label="Title" required maxLength={200} data-autofocus autoComplete="off" {...field('title')} />
        <TextInput
          label="Key"
          description="Lower case, digits and hyphens"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="country-ratings"
          {...field('list_key')}
        />
      </Group>
      <Select
        label="Type"
        description="What an entry is made of"
        required
        searchable
        value={list.type_key || null}
        error={faults['type_key']}
        data={(types ?? []).map(({ type_key, title }) => ({ value: type_key, label: `${title} (${type_key})` }))}
        onChange={(chosen) => setList({ ...list, type_key: chosen ?? '' })}
      />
      <TextInput label="Owner" description="Who answers for it" maxLength={200} {...field('owner')} />
      <Group grow align="flex-start">
        <NumberInput label="Review every so many days" {...number('review_every_days')} />
        <NumberInput label="Stale after so many days" {...number('stale_after_days')} />
      </Group>
      <Textarea label="Description" autosize minRows={2} maxLength={4000} {...field('description')} />
      <Stack>
        <ApprovalNote request={register.waiting} />
      </Stack>
    </FormDialog>
  )
}
