/** Whether the version of a credential that a request would activate was verified, and which values it has. */
import { Alert, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { describeVerification } from '#console/ui/provider/credential-texts.ts'
import { credentialVersionsQuery } from '#console/ui/provider/provider-queries.ts'

export function CredentialNote({ request }: { readonly request: Schemas['ChangeRequest'] }) {
  const may = usePermission()
  const { credential_id = '', version = '' } = request.params
  const { data } = useQuery({
    ...credentialVersionsQuery(credential_id),
    enabled: credential_id !== '' && may('listCredentialVersions'),
    throwOnError: false,
  })
  const requested = data?.items.find((one) => one.version === Number(version))
  if (requested === undefined) return null
  const { isVerified, text } = describeVerification(requested)
  return (
    <Alert
      color={isVerified ? 'teal' : 'orange'}
      icon={<Icon name={isVerified ? 'check' : 'warning'} />}
      title={text}
      role="status"
    >
      <Text size="sm" component="div">
        Stored <DateTime at={requested.set_at} /> by <Principal of={requested.set_by} />. Fingerprint{' '}
        <CopyValue value={requested.fingerprint} name="the fingerprint" />
      </Text>
    </Alert>
  )
}
