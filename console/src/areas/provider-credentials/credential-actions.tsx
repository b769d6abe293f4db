/** Dialogs that activate, verify, disable, enable and destroy, each with its consequence. */
import { Alert, Modal, Select, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { describeVerification } from '#console/ui/provider/credential-texts.ts'
import { TestOutcome, type TestReply } from '#console/ui/provider/test-outcome.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'

type Credential = Schemas['ProviderCredential']
type Version = Schemas['CredentialVersion']

const touched = ['provider-credentials', 'providers']

interface DialogProps {
  readonly credential: Credential
  readonly onClose: () => void
}

const overlaps = [
  { value: '0', label: 'Ends immediately' },
  { value: '3600', label: 'One hour' },
  { value: '86400', label: 'One day' },
  { value: '604800', label: 'One week' },
]

/** Long enough to notice that the provider rejects the new version. */
const ONE_DAY = '86400'

interface ActivateDialogProps extends DialogProps {
  readonly version: Version
  /** Of the verification made on this page; null where there was none. */
  readonly lastOutcome: TestReply['outcome'] | null
}

export function ActivateDialog({ credential, version, lastOutcome, onClose }: ActivateDialogProps) {
  const { credential_id, active_version } = credential
  const [form, setForm] = useState({ overlap: active_version === null ? '0' : ONE_DAY, reason: '' })
  const verification = describeVerification(version, lastOutcome)
  const activate = useApiMutation(
    () =>
      probity.POST('/api/provider-credentials/{credential_id}/versions/{version}/activations', {
        params: { path: { credential_id, version: String(version.version) } },
        body: { reason: form.reason, overlap_s: Number(form.overlap), expected_revision: credential.revision },
      }),
    { invalidates: touched, successMessage: `Version ${version.version} is active`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Activate version ${version.version}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => activate.run(undefined)}
      submit="Activate"
      change={activate}
    >
      <Text size="sm">
        Calls use version {version.version} from now on.{' '}
        {active_version === null
          ? 'It is the first active version.'
          : `Version ${active_version} is retired and cannot become active again.`}
        {verification.isVerified && ` ${verification.text}`}
      </Text>
      {!verification.isVerified && (
        <Alert color="orange" icon={<Icon name="warning" />} title={verification.text} role="status">
          Calls of {credential.provider_key} may fail once it is active. Verify it first.
        </Alert>
      )}
      {active_version !== null && (
        <Select
          label={`Version ${active_version} remains usable for`}
          description="Used only where the provider rejects the new version."
          data={overlaps}
          value={form.overlap}
          allowDeselect={false}
          onChange={(overlap) => setForm({ ...form, overlap: overlap ?? ONE_DAY })}
        />
      )}
      <ReasonField isFirst value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
      <ApprovalNote request={activate.waiting} />
    </FormDialog>
  )
}

interface VerifyDialogProps {
  readonly reply: TestReply | null
  readonly problem: Parameters<typeof ProblemNote>[0]['problem']
  readonly onClose: () => void
}

export function VerifyDialog({ reply, problem, onClose }: VerifyDialogProps) {
  return (
    <Modal
      opened={reply !== null || problem !== null}
      onClose={onClose}
      title="Verify the credential"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ duration: 120 }}
    >
      <Stack gap="sm">
        {reply && <TestOutcome reply={reply} />}
        <ProblemNote problem={problem} />
      </Stack>
    </Modal>
  )
}

/** Never waits for approval: what may have leaked must stop at once. */
export function DisableDialog({ credential, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const disable = useApiMutation(
    () =>
      probity.POST('/api/provider-credentials/{credential_id}/disable', {
        params: { path: { credential_id: credential.credential_id } },
        body: { reason, expected_revision: credential.revision },
      }),
    { invalidates: touched, successMessage: `${credential.label} disabled`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Disable ${credential.label}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => disable.run(undefined)}
      submit="Disable"
      change={disable}
    >
      <Text size="sm">
        Takes effect at once, without approval. New calls of {credential.provider_key} that need a credential do not
        start, and calls that wait are held back until it is enabled again. Values stay stored.
      </Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}

export function EnableDialog({ credential, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const enable = useApiMutation(
    () =>
      probity.POST('/api/provider-credentials/{credential_id}/enable', {
        params: { path: { credential_id: credential.credential_id } },
        body: { reason, expected_revision: credential.revision },
      }),
    { invalidates: touched, successMessage: `${credential.label} enabled`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Enable ${credential.label}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => enable.run(undefined)}
      submit="Enable"
      change={enable}
    >
      <Text size="sm">
        Calls of {credential.provider_key} use it again, and calls that were held back continue. A provider and system
        has one enabled credential at a time.
      </Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
      <ApprovalNote request={enable.waiting} />
    </FormDialog>
  )
}

export function DestroyDialog({ credential, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const destroy = useApiMutation(
    () =>
      probity.DELETE('/api/provider-credentials/{credential_id}', {
        params: { path: { credential_id: credential.credential_id }, query: { reason } },
      }),
    { invalidates: touched, successMessage: `${credential.label} destroyed`, onDone: onClose },
  )
  return (
    <FormDialog
      title={`Destroy ${credential.label}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => destroy.run(undefined)}
      submit="Destroy"
      change={destroy}
    >
      <Text size="sm">
        The values of all its versions are deleted. <b>This cannot be undone.</b> Calls of {credential.provider_key}{' '}
        that need it do not start any more. The list of versions and the access log stay. Revoke the values at the
        provider too.
      </Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
      <ApprovalNote request={destroy.waiting} />
    </FormDialog>
  )
}
