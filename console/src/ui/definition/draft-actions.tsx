/** Publishes or discards the draft of a definition. */
import { Button, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '../api-mutation.ts'
import {
  type DefinitionKind,
  definitionQuery,
  textQuery,
  toApiPath,
  toPathParams,
} from '../decision/definition-kind.ts'
import { ConfirmDialog, FormDialog } from '../dialog.tsx'
import { ReasonField } from '../reason-field.tsx'

interface PublishProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly revision: number
  readonly isOff: boolean
  /** What publishing checks. */
  readonly publishing: string
  readonly warnings?: ReactNode
}

/** Leaves for the page of the definition and removes the queries of the deleted draft. */
function useLeaveDraft(kind: DefinitionKind, definition_key: string): (search: object) => Promise<void> {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return async (search) => {
    queries.removeQueries({ queryKey: definitionQuery(kind, definition_key, 'own').queryKey })
    await navigate({ to: `${kind.basePath}/${definition_key}`, search: { ...search, origin: 'own' } })
    queries.removeQueries({ queryKey: textQuery(kind, definition_key, 'draft', 'own').queryKey })
    await queries.invalidateQueries({ queryKey: ['definitions'] })
  }
}

export function Publish({ kind, definition_key, revision, isOff, publishing, warnings }: PublishProps) {
  const leave = useLeaveDraft(kind, definition_key)
  const [isOpen, dialog] = useDisclosure(false)
  const [order, setOrder] = useState({ label: '', note: '' })
  const publish = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/publish'), {
        params: { path: { ...toPathParams(kind, definition_key), version: 'draft' } },
        body: {
          expected_revision: revision,
          ...(order.label !== '' && { label: order.label }),
          ...(order.note !== '' && { note: order.note }),
        },
      }),
    {
      invalidates: [],
      successMessage: ({ version }) => `Published as version ${version}`,
      onDone: () => leave({ tab: 'versions' }),
    },
  )
  return (
    <>
      <Button variant="light" disabled={isOff} onClick={dialog.open}>
        Publish
      </Button>
      <FormDialog
        title="Publish draft"
        isOpen={isOpen}
        onClose={() => {
          publish.reset()
          dialog.close()
        }}
        onSubmit={() => publish.run(undefined)}
        submit="Validate and publish"
        change={publish}
      >
        <Text size="sm">{publishing} Publishing does not put the version in force.</Text>
        {warnings}
        <TextInput
          label="Label"
          placeholder="2026-q4"
          maxLength={100}
          value={order.label}
          onChange={(event) => setOrder({ ...order, label: event.currentTarget.value })}
        />
        <ReasonField
          isFirst
          isRequired={false}
          label="Summary of changes"
          value={order.note}
          onChange={(note) => setOrder({ ...order, note })}
        />
      </FormDialog>
    </>
  )
}

export function DiscardDraft({
  kind,
  definition_key,
}: {
  readonly kind: DefinitionKind
  readonly definition_key: string
}) {
  const leave = useLeaveDraft(kind, definition_key)
  const [isOpen, dialog] = useDisclosure(false)
  const remove = useApiMutation(
    () =>
      probity.DELETE(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}'), {
        params: { path: { ...toPathParams(kind, definition_key), version: 'draft' } },
      }),
    {
      invalidates: [],
      successMessage: 'Draft discarded',
      onDone: () => leave({}),
    },
  )
  return (
    <>
      <Button variant="subtle" color="red" onClick={dialog.open}>
        Discard draft
      </Button>
      <ConfirmDialog
        title="Discard the draft?"
        isOpen={isOpen}
        onClose={dialog.close}
        onConfirm={() => remove.run(undefined)}
        confirm="Discard draft"
        change={remove}
        isDangerous
      >
        Published versions and the version in force are not affected.
      </ConfirmDialog>
    </>
  )
}
