// SPDX-License-Identifier: GPL-3.0-or-later
// A run of POST /perf/transcoding/compare, from the choice of a series to the end of its job.
import { getReason, orthanc, perf, RequestError } from '../api';
import type { Job, Series } from '../model/answers';
import { state, tell, view } from './state';

const LISTED = 30;
const PERIOD = 500; // milliseconds

// The series that came last
export async function listSeries(): Promise<void> {
  try {
    const { CountSeries } = await orthanc.get<{ CountSeries: number }>('statistics');
    const since = Math.max(0, CountSeries - LISTED);
    const series = await orthanc.get<Series[]>(`series?expand&since=${since}&limit=${LISTED}`);
    state.series = series.reverse();
    view.resource ||= series[0]?.ID ?? '';
  } catch (error) {
    state.series = [];
    tell(`The series cannot be listed. ${error instanceof Error ? error.message : ''}`, true);
  }
}

function isOver(job: Job): boolean {
  return job.State === 'Success' || job.State === 'Failure';
}

// undefined: Orthanc does not answer just now, and the job goes on
async function askJob(id: string): Promise<Job | undefined> {
  try {
    return await orthanc.get<Job>(`jobs/${id}`);
  } catch (error) {
    if (error instanceof RequestError) {
      throw error;
    }
    return undefined;
  }
}

async function follow(resource: string, id: string): Promise<void> {
  for (;;) {
    const job = await askJob(id);
    if (job !== undefined) {
      state.comparison = { resource, job, problem: job.State === 'Failure' ? (job.ErrorDescription ?? '') : '' };
      if (isOver(job)) {
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PERIOD));
  }
}

export async function runComparison(): Promise<void> {
  const resource = view.resource;
  state.comparison = { resource, job: null, problem: '' };
  try {
    const { ID } = await perf.post<{ ID: string }>('transcoding/compare', {
      Resource: resource,
      Targets: view.targets,
    });
    await follow(resource, ID);
  } catch (error) {
    state.comparison = { resource, job: null, problem: getReason(error) };
  }
}
