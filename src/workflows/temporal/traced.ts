/*
 * Interceptor module of the bundle for workers that trace (`dist/workflow-bundle-traced.js`). It comes after the
 * official interceptors, which register the tracer provider of the isolate.
 */
import { trace } from '@opentelemetry/api'
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow'
import { useTracer } from '../../common/telemetry/tracing.js'

useTracer(trace.getTracer('durable-ptc'))

/** This module adds no interceptors: the official ones make the other spans. */
export const interceptors: WorkflowInterceptorsFactory = () => ({})
