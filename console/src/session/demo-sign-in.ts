/** The people of the demo tenants, on a server that offers them, and signing in as one of them. */
import { isProblem, type Schemas } from '@probity/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { probe } from './client.ts'
import { signInWithToken } from './session.ts'

export type DemoTenant = Schemas['DemoPeople']['items'][number]
export type DemoPerson = DemoTenant['people'][number]

/** Empty on a server without demo sign-in, or when the page was not opened on the server's own machine. */
async function loadDemoTenants(signal: AbortSignal): Promise<readonly DemoTenant[]> {
  const { data: providers } = await probe.raw.GET('/api/auth/oidc', { signal })
  if (!providers?.has_demo_people) return []
  const { data } = await probe.raw.GET('/api/auth/demo-people', { signal })
  return data?.items ?? []
}

export function useDemoTenants(): readonly DemoTenant[] {
  const { data = [] } = useQuery({
    queryKey: ['demo-people'],
    queryFn: ({ signal }) => loadDemoTenants(signal),
    staleTime: 60_000,
    throwOnError: false,
  })
  return data
}

export function useDemoSignIn(onDone?: () => void) {
  const session = useMutation({
    mutationFn: (user_id: string) => probe.POST('/api/auth/demo-sessions', { body: { user_id } }),
    onSuccess: ({ access_token }) => {
      signInWithToken(access_token)
      onDone?.()
    },
  })
  return {
    signIn: session.mutate,
    isRunning: session.isPending,
    /** The person who is being signed in. */
    user_id: session.isPending ? session.variables : null,
    problem: isProblem(session.error) ? session.error : null,
  }
}
