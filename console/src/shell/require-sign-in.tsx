/** Renders a page for signed-in users, and the sign-in form at the same address for others. */
import { useLocation } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { findArea } from '#console/find-areas.ts'
import { useToken } from '#console/session/session.ts'
import { ListSkeleton } from '#console/ui/list.tsx'

const SignInPage = lazy(() => import('#console/areas/sign-in/sign-in-page.tsx'))

export function RequireSignIn({ children }: { readonly children: ReactNode }) {
  const token = useToken()
  const area = useLocation({ select: ({ pathname }) => findArea(pathname) })
  if (token !== '' || area === undefined || area.isPublic) return children
  return (
    <Suspense fallback={<ListSkeleton />}>
      <SignInPage />
    </Suspense>
  )
}
