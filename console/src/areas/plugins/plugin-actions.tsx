/** The actions on a plugin: upload a version, roll back, pin, disable and enable. */
import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { useNow } from '#console/ui/date-time.tsx'
import { pluginKind, timelineQuery, type VersionedDefinition } from '#console/ui/decision/definition-kind.ts'
import { PinActions } from '#console/ui/definition/pin-actions.tsx'
import { RollBack } from '#console/ui/definition/roll-back.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { dependentsQuery, pluginVersionsQuery } from '#console/ui/plugin/plugin-queries.ts'
import type { Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { DependentList } from './dependents.tsx'

export function PluginActions({ plugin }: { readonly plugin: Plugin }) {
  const may = usePermission()
  const { plugin_key, origin, state, disabled } = plugin
  const isOwn = origin === 'own' && state === 'live'
  return (
    <>
      <ActivationActions plugin={plugin} />
      {!disabled && may('disablePlugin') && <Disable plugin={plugin} />}
      {disabled && may('enablePlugin') && <Enable plugin={plugin} />}
      {isOwn && may('createPluginVersion') && (
        <ButtonLink to={`/plugins/${plugin_key}/upload`}>Upload version</ButtonLink>
      )}
    </>
  )
}

/** A plugin with what the dialogs of definitions need. */
function useVersioned(plugin: Plugin): VersionedDefinition | null {
  const now_ms = useNow()
  const { data: versions } = useQuery(pluginVersionsQuery(plugin.plugin_key, plugin.origin))
  const { data: timeline } = useQuery(timelineQuery(pluginKind, plugin.plugin_key, 'own'))
  if (versions === undefined || timeline === undefined) return null
  return {
    title: plugin.title,
    origin: plugin.origin,
    active: plugin.active,
    pending: timeline.in_force.filter(({ version, from }) => version !== null && Date.parse(from) > now_ms),
    versions: versions.map(({ version, label }) => ({ version, label, state: 'published' })),
  }
}

function ActivationActions({ plugin }: { readonly plugin: Plugin }) {
  const may = usePermission()
  const of = useVersioned(plugin)
  if (of === null) return null
  const parts = { kind: pluginKind, definition_key: plugin.plugin_key, of }
  if (plugin.origin === 'shared') return <PinActions {...parts} />
  return plugin.active !== null && plugin.state === 'live' && may('rollBackPlugin') ? <RollBack {...parts} /> : null
}

interface StateDialogProps {
  readonly plugin: Plugin
  readonly action: 'disable' | 'enable'
  readonly children: ReactNode
}

const stateTexts = {
  disable: { name: 'Disable', submit: 'Disable now', done: 'Plugin disabled' },
  enable: { name: 'Enable', submit: 'Enable', done: 'Plugin enabled' },
}

function StateDialog({ plugin, action, children }: StateDialogProps) {
  const [isOpen, dialog] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const { plugin_key, title } = plugin
  const { name, submit, done } = stateTexts[action]
  const sent = { params: { path: { plugin_key } }, body: { reason } }
  const change = useApiMutation(
    () =>
      action === 'disable'
        ? probity.POST('/api/plugins/{plugin_key}/disable', sent)
        : probity.POST('/api/plugins/{plugin_key}/enable', sent),
    { invalidates: ['definitions'], successMessage: done, onDone: close },
  )
  function close() {
    setReason('')
    change.reset()
    dialog.close()
  }
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        {name}
      </Button>
      <FormDialog
        title={`${name} ${title}`}
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => change.run(undefined)}
        submit={submit}
        change={change}
        size="lg"
      >
        {children}
        <ReasonField isFirst value={reason} onChange={setReason} />
        <ApprovalNote request={change.waiting} />
      </FormDialog>
    </>
  )
}

const Disable = ({ plugin }: { readonly plugin: Plugin }) => (
  <StateDialog plugin={plugin} action="disable">
    <Text size="sm">
      It stops at once and without approval. Whatever runs it is refused with status 503 until it is enabled again; no
      other version is used instead. Decisions that were made stay and can be replayed.
    </Text>
    <RefusedDependents plugin_key={plugin.plugin_key} />
  </StateDialog>
)

/** Mounted only while the dialog is open, so the request is sent then. */
function RefusedDependents({ plugin_key }: Pick<Plugin, 'plugin_key'>) {
  const { data } = useQuery({ ...dependentsQuery(plugin_key), throwOnError: false })
  if (data === undefined || data.items.length === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        This will be refused:
      </Text>
      <DependentList items={data.items} />
    </Stack>
  )
}

const Enable = ({ plugin }: { readonly plugin: Plugin }) => (
  <StateDialog plugin={plugin} action="enable">
    <Text size="sm">The version in force may run again, if nothing else keeps it from running.</Text>
  </StateDialog>
)
