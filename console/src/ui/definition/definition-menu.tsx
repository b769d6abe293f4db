/** The menu of rarely used actions of a definition: settings and archiving. */
import { ActionIcon, Menu, NumberInput, SimpleGrid, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import { ApprovalNote } from '../approval-note.tsx'
import { WaitingRequests } from '../change-request/waiting-requests.tsx'
import {
  type DefinitionKind,
  type DefinitionView,
  definitionQuery,
  toApiPath,
  toOperationId,
  toPathParams,
} from '../decision/definition-kind.ts'
import { ConfirmDialog, FormDialog } from '../dialog.tsx'
import { toSentence } from '../format.ts'
import { Icon } from '../icons.tsx'
import { faultsByField } from '../problem-texts.ts'

interface DefinitionMenuProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly of: DefinitionView
}

export function DefinitionMenu(props: DefinitionMenuProps) {
  const { kind, of } = props
  const may = usePermission()
  const [asking, setAsking] = useState<'settings' | 'archive' | null>(null)
  const canChange = may(toOperationId(kind, 'update'))
  const canArchive = may(toOperationId(kind, 'archive'))
  if (!canChange && !canArchive) return null
  const close = () => setAsking(null)
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={`More actions for ${of.title}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {canChange && <Menu.Item onClick={() => setAsking('settings')}>Settings</Menu.Item>}
          {canArchive && <Menu.Item onClick={() => setAsking('archive')}>Archive</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {asking === 'settings' && <SettingsDialog {...props} onClose={close} />}
      {asking === 'archive' && <ArchiveDialog {...props} onClose={close} />}
    </>
  )
}

const toSettings = (of: DefinitionView) => ({
  title: of.title,
  owner: of.owner ?? '',
  description: of.description ?? '',
  review_every_days: of.review_every_days ?? '',
  stale_after_days: of.stale_after_days ?? '',
  profile: of.subject_types && {
    subject_types: of.subject_types,
    products: of.products ?? [],
    typologies: of.typologies ?? [],
  },
})
type Settings = ReturnType<typeof toSettings>

const buildRequest = ({ title, owner, description, review_every_days, stale_after_days, profile }: Settings) => ({
  title,
  ...profile,
  owner: owner || null,
  description: description || null,
  review_every_days: typeof review_every_days === 'number' ? review_every_days : null,
  stale_after_days: typeof stale_after_days === 'number' ? stale_after_days : null,
})

interface DialogProps extends DefinitionMenuProps {
  readonly onClose: () => void
}

/** Mounted while open, so that it starts with the current settings. */
function SettingsDialog({ kind, definition_key, of, onClose }: DialogProps) {
  const queries = useQueryClient()
  const [settings, setSettings] = useState(() => toSettings(of))
  const [revision, setRevision] = useState(of.revision)
  const save = useApiMutation(
    () =>
      probity.PATCH(toApiPath(kind, '/api/risk-matrices/{matrix_key}'), {
        params: { path: toPathParams(kind, definition_key) },
        body: { ...buildRequest(settings), expected_revision: revision },
      }),
    { invalidates: ['definitions'], successMessage: 'Settings saved', onDone: onClose },
  )
  async function reload() {
    const now = await queries.fetchQuery({ ...definitionQuery(kind, definition_key, 'own'), staleTime: 0 })
    setSettings(toSettings(now))
    setRevision(now.revision)
    save.reset()
  }
  return (
    <FormDialog
      title={`Settings of ${of.title}`}
      isOpen
      onClose={onClose}
      onSubmit={() => save.run(undefined)}
      onReload={reload}
      submit="Save settings"
      change={save}
      size="lg"
    >
      <SettingsFields settings={settings} faults={faultsByField(save.problem)} onChange={setSettings} />
      <ApprovalNote request={save.waiting} />
    </FormDialog>
  )
}

interface SettingsFieldsProps {
  readonly settings: Settings
  readonly faults: Readonly<Record<string, string>>
  readonly onChange: (settings: Settings) => void
}

function SettingsFields({ settings, faults, onChange }: SettingsFieldsProps) {
  const { profile } = settings
  const text = (name: 'title' | 'owner' | 'description') => ({
    value: settings[name],
    error: faults[name],
    onChange: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange({ ...settings, [name]: event.currentTarget.value }),
  })
  const days = (name: 'review_every_days' | 'stale_after_days', label: string) => (
    <NumberInput
      label={label}
      min={1}
      max={3660}
      allowDecimal={false}
      value={settings[name]}
      error={faults[name]}
      onChange={(value) => onChange({ ...settings, [name]: value })}
    />
  )
  return (
    <>
      <TextInput label="Title" required maxLength={200} data-autofocus {...text('title')} />
      <TextInput label="Owner" description="Person or team responsible." maxLength={200} {...text('owner')} />
      <Textarea label="Description" autosize minRows={2} maxLength={2000} {...text('description')} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {days('review_every_days', 'Review interval in days')}
        {days('stale_after_days', 'Out of date after (days)')}
      </SimpleGrid>
      {profile &&
        (['subject_types', 'products', 'typologies'] as const).map((name) => (
          <TagsInput
            key={name}
            label={toSentence(name)}
            value={[...profile[name]]}
            error={faults[name]}
            onChange={(typed) => onChange({ ...settings, profile: { ...profile, [name]: typed } })}
          />
        ))}
    </>
  )
}

function ArchiveDialog({ kind, definition_key, of, onClose }: DialogProps) {
  const archive = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/archive'), {
        params: { path: toPathParams(kind, definition_key) },
      }),
    { invalidates: ['definitions'], successMessage: `${of.title} archived`, onDone: onClose },
  )
  return (
    <ConfirmDialog
      title={`Archive ${of.title}?`}
      isOpen
      onClose={onClose}
      onConfirm={() => archive.run(undefined)}
      confirm={`Archive ${kind.word}`}
      change={archive}
      isDangerous
    >
      No new versions can be created or put in force. All versions remain readable, and decisions that used them can be
      replayed. A definition with a version in force cannot be archived.
      <WaitingRequests param={kind.param} name={definition_key} />
      <ApprovalNote request={archive.waiting} />
    </ConfirmDialog>
  )
}
