/** What operators ask of a cluster, and how the cluster looks from one bus. */
package io.eventbus.registry.ratis.admin;
