/** Administration of a cluster by operators, and the cluster as seen from one bus. */
package io.eventbus.registry.ratis.admin;
