/** Dialogs that register, change and remove a tool server. */
import { Alert, Button, Select, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { type ApiMutation, useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toKey } from '#console/ui/format.ts'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { authNames } from '#console/ui/provider/manifest.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import type { ToolServer } from '#console/ui/tool/tool-texts.ts'
import { type AuthKind, authKinds, blankServer, type ServerForm, toAuth, toServerForm } from './server-form.ts'

interface FieldsProps {
  readonly form: ServerForm
  readonly faults: Readonly<Record<string, string>>
  readonly isNew: boolean
  readonly onChange: (part: Partial<ServerForm>) => void
}

function ServerFields({ form, faults, isNew, onChange }: FieldsProps) {
  return (
    <>
      <TextInput
        data-autofocus
        label="Title"
        required
        maxLength={200}
        value={form.title}
        error={faults['title']}
        onChange={({ currentTarget: { value } }) =>
          onChange({
            title: value,
            // The key follows the title until it is typed.
            ...(isNew && form.server_key === toKey(form.title) && { server_key: toKey(value) }),
          })
        }
      />
      {isNew && (
        <TextInput
          label="Key"
          description="Lower-case letters, digits and hyphens. It cannot be changed later."
          required
          maxLength={96}
          classNames={{ input: 'mono' }}
          value={form.server_key}
          error={faults['server_key']}
          onChange={(event) => onChange({ server_key: event.currentTarget.value })}
        />
      )}
      <Textarea
        label="Description"
        autosize
        maxLength={2000}
        value={form.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      <TextInput
        label="Address"
        description="Where the server takes requests of the Model Context Protocol, such as https://tools.example.com/mcp."
        required
        maxLength={2000}
        value={form.url}
        error={faults['url']}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
      />
      <AuthFields form={form} faults={faults} onChange={onChange} />
    </>
  )
}

function AuthFields({ form, faults, onChange }: Omit<FieldsProps, 'isNew'>) {
  return (
    <>
      <Select
        label="Authentication"
        allowDeselect={false}
        data={authKinds.map((value) => ({ value, label: authNames[value] ?? 'None' }))}
        value={form.auth_kind}
        error={faults['auth']}
        onChange={(kind) => kind !== null && onChange({ auth_kind: kind as AuthKind })}
      />
      {form.auth_kind === 'header' && (
        <>
          <TextInput
            label="Header"
            required
            maxLength={100}
            value={form.header_name}
            onChange={(event) => onChange({ header_name: event.currentTarget.value })}
          />
          <TextInput
            label="Value of the header"
            description="{credential.token} stands for the value “token” of the stored credential."
            required
            maxLength={1000}
            classNames={{ input: 'mono' }}
            value={form.header_value}
            onChange={(event) => onChange({ header_value: event.currentTarget.value })}
          />
        </>
      )}
      {form.auth_kind === 'oauth2_client_credentials' && (
        <>
          <TextInput
            label="Token address"
            required
            maxLength={2000}
            value={form.token_url}
            onChange={(event) => onChange({ token_url: event.currentTarget.value })}
          />
          <TextInput
            label="Scope"
            maxLength={1000}
            value={form.scope}
            onChange={(event) => onChange({ scope: event.currentTarget.value })}
          />
        </>
      )}
      {form.auth_kind !== 'none' && (
        <Text size="xs" c="dimmed">
          The values themselves are stored as a credential afterwards, never here.
        </Text>
      )}
    </>
  )
}

interface ServerDialogProps extends Omit<FieldsProps, 'faults'> {
  readonly title: string
  readonly submit: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly change: ApiMutation<undefined>
  readonly onReload?: () => void
  /** Above the fields. */
  readonly note?: ReactNode
  /** Below them. */
  readonly children?: ReactNode
}

function ServerDialog({ note, children, change, form, isNew, onChange, ...dialog }: ServerDialogProps) {
  return (
    <FormDialog {...dialog} onSubmit={() => change.run(undefined)} change={change} size="lg">
      {note}
      <ServerFields form={form} faults={faultsByField(change.problem)} isNew={isNew} onChange={onChange} />
      {children}
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}

export function RegisterServer({ isSmall = false }: { readonly isSmall?: boolean }) {
  const navigate = useNavigate()
  const [isOpen, dialog] = useDisclosure(false)
  const [form, setForm] = useState(blankServer)
  const register = useApiMutation(
    () =>
      probity.POST('/api/mcp/servers', {
        body: {
          server_key: form.server_key,
          title: form.title,
          description: form.description || null,
          url: form.url,
          auth: toAuth(form, null),
        },
      }),
    {
      invalidates: ['tool-servers', 'provider-credentials'],
      successMessage: 'Tool server registered',
      onDone: ({ server_key }) => navigate({ to: `/tools/servers/${server_key}` }),
    },
  )
  function close() {
    setForm(blankServer)
    register.reset()
    dialog.close()
  }
  return (
    <>
      <Button onClick={dialog.open} {...(isSmall && { size: 'xs' })}>
        Register a server
      </Button>
      <ServerDialog
        title="Register a tool server"
        submit="Register"
        isOpen={isOpen}
        onClose={close}
        change={register}
        form={form}
        isNew
        onChange={(part) => setForm({ ...form, ...part })}
        note={
          <Text size="sm">
            Nothing is sent to the server yet, and none of its tools can be called before it is pinned.
          </Text>
        }
      />
    </>
  )
}

export function EditServer({ server }: { readonly server: ToolServer }) {
  const queries = useQueryClient()
  const [isOpen, dialog] = useDisclosure(false)
  const [form, setForm] = useState(() => toServerForm(server))
  const [reason, setReason] = useState('')
  const { server_key } = server
  const auth = toAuth(form, server.auth)
  const isAuthChanged = JSON.stringify(auth) !== JSON.stringify(toAuth(toServerForm(server), server.auth))
  const save = useApiMutation(
    () =>
      probity.PATCH('/api/mcp/servers/{server_key}', {
        params: { path: { server_key } },
        body: {
          title: form.title,
          description: form.description || null,
          url: form.url,
          // The members of a credential follow from how the server authenticates.
          ...(isAuthChanged && { auth, credential: null }),
          reason,
          expected_revision: server.revision,
        },
      }),
    {
      invalidates: ['tool-servers', 'provider-credentials'],
      successMessage: 'Tool server changed',
      onDone: close,
    },
  )
  function close() {
    setForm(toServerForm(server))
    setReason('')
    save.reset()
    dialog.close()
  }
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        Change settings
      </Button>
      <ServerDialog
        title={`Change ${server.title}`}
        submit="Save"
        isOpen={isOpen}
        onClose={close}
        change={save}
        onReload={() => queries.invalidateQueries({ queryKey: ['tool-servers'] })}
        form={form}
        isNew={false}
        onChange={(part) => setForm({ ...form, ...part })}
      >
        {form.url !== server.url && (
          <Alert color="orange" title="Another address is another program" role="status">
            <Text size="sm">All pins are void. Its tools must be listed, reviewed and pinned again.</Text>
          </Alert>
        )}
        <ReasonField value={reason} onChange={setReason} />
      </ServerDialog>
    </>
  )
}

export function RemoveServer({ server }: { readonly server: ToolServer }) {
  const navigate = useNavigate()
  const [isOpen, dialog] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const { server_key, title } = server
  const remove = useApiMutation(
    () => probity.DELETE('/api/mcp/servers/{server_key}', { params: { path: { server_key }, query: { reason } } }),
    {
      invalidates: ['provider-credentials'],
      successMessage: 'Tool server removed',
      onDone: () => navigate({ to: '/tools/servers' }),
    },
  )
  function close() {
    setReason('')
    remove.reset()
    dialog.close()
  }
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        Remove
      </Button>
      <FormDialog
        title={`Remove ${title}`}
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => remove.run(undefined)}
        submit="Remove"
        change={remove}
      >
        <Text size="sm">
          Its tools can no longer be called. What was pinned stays recorded. A server that a provider in force needs
          cannot be removed.
        </Text>
        <ReasonField isFirst value={reason} onChange={setReason} />
        <ApprovalNote request={remove.waiting} />
      </FormDialog>
    </>
  )
}
