/** Routes built from the table of areas, with fallbacks for loading, errors and unknown addresses. */
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { lazy } from 'react'
import { areas, unlistedPages } from './areas.ts'
import { NotFoundPage } from './shell/not-found-page.tsx'
import { Shell } from './shell/shell.tsx'
import { ListSkeleton } from './ui/list.tsx'
import { FailedPage } from './ui/problem-view.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage })

const pages = [...areas.map((area) => area.pages), unlistedPages].flatMap((group) => Object.entries(group))

export const router = createRouter({
  routeTree: root.addChildren(
    pages.map(([path, load]) => createRoute({ getParentRoute: () => root, path, component: lazy(load) })),
  ),
  defaultErrorComponent: FailedPage,
  defaultPendingComponent: () => (
    <div className="page">
      <ListSkeleton />
    </div>
  ),
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
  trailingSlash: 'never',
})
