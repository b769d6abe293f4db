/** The sign-in page. It also replaces a page that needs a session, which appears after sign-in. */
import { Button, Card, Divider, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { loadProviders, type Provider, startSignIn } from '#console/oidc.ts'
import { DemoPeople } from '#console/session/demo-people.tsx'
import { SessionEndNote } from '#console/session/session-end-note.tsx'
import { TokenBox } from '#console/session/token-box.tsx'
import { Page } from '#console/ui/page.tsx'

export default function SignInPage() {
  const navigate = useNavigate()
  const { pathname, href } = useLocation()
  const isOwnPage = pathname === '/sign-in'
  // On any other page, the page itself appears as soon as there is a session.
  const leave = () => isOwnPage && navigate({ to: '/' })
  return (
    <Page title="Sign in" width="text" about={isOwnPage ? undefined : 'You will return to this page afterwards.'}>
      <Stack gap="md" maw={560}>
        <SessionEndNote />
        <Card withBorder padding="md">
          <DemoPeople onDone={leave} />
          <Providers place={isOwnPage ? '/' : href} />
          <TokenBox submit="Sign in" onDone={leave} />
        </Card>
        <Text size="sm" c="dimmed">
          An administrator creates API keys under API keys. The operator of the server can print a token:{' '}
          <span className="mono">npx probity token --tenant demo --role tenant_admin</span>.
        </Text>
      </Stack>
    </Page>
  )
}

function Providers({ place }: { readonly place: string }) {
  const { data: providers = [] } = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => loadProviders(signal),
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
  })
  if (providers.length === 0) return null
  async function go(provider: Provider) {
    const url = await startSignIn(provider, window.location.origin, place, window.sessionStorage)
    window.location.assign(url)
  }
  return (
    <Stack gap="xs" mb="md">
      {providers.map((provider) => (
        <Button key={provider.issuer} variant="default" onClick={() => go(provider)}>
          Sign in with {new URL(provider.issuer).host}
        </Button>
      ))}
      <Divider label="or" />
    </Stack>
  )
}
